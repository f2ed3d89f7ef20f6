// What the layers of a Functional model read.
#ifndef PACELINE_COMMON_KERAS_FUNCTIONAL_INPUTS_H_
#define PACELINE_COMMON_KERAS_FUNCTIONAL_INPUTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

// For each call of an entry of a Functional's `layers`, the names of the
// tensors that it reads, in the order of its arguments, without masks (see
// mask_operations.h); none for an Input. Unimplemented for keyword arguments
// that we do not know.
absl::StatusOr<std::vector<std::vector<std::string>>> ReadInboundNodes(
    const Value& entry, const Path& path);

// The keyword arguments of an entry's calls that are true or false, but for
// `training`: `use_causal_mask`; and `mask_inputs`, the keywords of masks among
// its inputs. In a job they are keys of the layer's config. Unimplemented if
// calls of the layer differ in them.
absl::StatusOr<Value::Map> ReadCallFlags(const Value& entry, const Path& path);

// Where the entry is an operation such as x + y or 2 * x, not a layer, replaces
// `layer` by the layer that computes the same (keras_operator.h). None of these
// has variables, so paths of weights stay. Unimplemented for operations without
// such a layer.
absl::Status MakeLayerOfOperation(const Value& entry, absl::string_view name,
                                  const Path& path, KerasObject& layer);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_FUNCTIONAL_INPUTS_H_
