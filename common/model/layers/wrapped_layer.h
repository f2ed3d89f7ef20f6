// Layers in the configs of others.
#ifndef PACELINE_COMMON_MODEL_LAYERS_WRAPPED_LAYER_H_
#define PACELINE_COMMON_MODEL_LAYERS_WRAPPED_LAYER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "common/model/layer.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"

namespace paceline {

// Reads a Keras object, and names it as its class if it has no name; writes
// Keras' serialised form, or null. See codec.h.
absl::Status ReadConfig(const Value& value, const Path& path,
                        std::shared_ptr<Layer>& out);
Value WriteConfig(const std::shared_ptr<Layer>& layer);
std::string ConfigType(const std::shared_ptr<Layer>*);

// The variables of a wrapped layer as the wrapper's: "forward_layer/kernel" for
// the prefix "forward_layer". Frozen if the layer is.
std::vector<VariableSpec> WrappedVariables(absl::string_view prefix,
                                           const Layer& layer,
                                           absl::Span<const Shape> inputs);

// Unimplemented if a wrapped layer, whose config is at `path`, has a penalty on
// its output, of which wrappers know nothing.
absl::Status CheckUnpenalized(const Layer& layer, const Path& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_WRAPPED_LAYER_H_
