// Reads the variables of a replica that does not train.
#ifndef PACELINE_WORKER_EVALUATION_READ_VARIABLES_H_
#define PACELINE_WORKER_EVALUATION_READ_VARIABLES_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/model/graph.h"
#include "common/sharding/bucket_layout.h"
#include "worker/device/device.h"
#include "worker/strategy/strategy.h"

namespace paceline {

// Sets the variables of `state`, whose type is that of T, and copies them to
// the device. `read(variable, values)` reads a whole variable, an index into
// Graph::variables, into an absl::Span<T>; returns its first error.
template <typename T, typename Read>
absl::Status ReadVariables(const Graph& graph, const BucketLayout& layout,
                           ModelState& state, Stream& stream, Read read) {
  for (int i = 0; i < static_cast<int>(graph.variables.size()); ++i) {
    const VariableLocation location = layout.location(i);
    T* const bucket =
        reinterpret_cast<T*>(state.host_variables(location.bucket).data());
    RETURN_IF_ERROR(
        read(i, absl::MakeSpan(bucket + location.offset,
                               NumElements(graph.variables[i].shape))));
  }
  return UploadAll(layout, state, stream);
}

}  // namespace paceline

#endif  // PACELINE_WORKER_EVALUATION_READ_VARIABLES_H_
