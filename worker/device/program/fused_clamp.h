// Fusion of a rectifier into the batch normalization before it.
//
// If only a rectifier reads a batch normalization, the normalization clamps its
// output itself. This saves one pass over memory in forward and two in
// backward. The rectifier's node then only passes its input on.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_FUSED_CLAMP_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_FUSED_CLAMP_H_

#include <optional>

#include "common/model/graph.h"
#include "common/operations/clamp.h"

namespace paceline {

// The clamp that the node applies to its output. nullopt if the node is no
// batch normalization, or other nodes than a rectifier read it.
std::optional<op::Clamp> ClampBehind(const Graph& graph,
                                     const Node& normalization);

// Whether the layer before the node does the node's work.
bool IsFusedIntoInput(const Graph& graph, const Node& node);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_FUSED_CLAMP_H_
