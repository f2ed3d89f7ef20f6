// Rectifiers that the layer before them applies.
//
// A batch normalization whose output only a rectifier reads writes what that
// would: one pass over memory less, and two in backward. The rectifier then
// passes on what it gets.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_FUSED_CLAMP_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_FUSED_CLAMP_H_

#include <optional>

#include "common/model/graph.h"
#include "common/operations/clamp.h"

namespace paceline {

// What the node clamps its output to; nullopt, if it is no batch normalization
// that a rectifier alone reads.
std::optional<op::Clamp> ClampBehind(const Graph& graph,
                                     const Node& normalization);

// Whether the layer before the node does its work.
bool IsFusedIntoInput(const Graph& graph, const Node& node);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_FUSED_CLAMP_H_
