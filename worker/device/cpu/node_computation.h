// How the CPU device computes one node of a graph: by a file of its own for
// the layer (layers), or by the operations of the layer (operations).
#ifndef PACELINE_WORKER_DEVICE_CPU_NODE_COMPUTATION_H_
#define PACELINE_WORKER_DEVICE_CPU_NODE_COMPUTATION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "common/model/graph.h"
#include "worker/device/cpu/program_builder.h"
#include "worker/device/program/node_computation.h"
#include "worker/device/program/node_function.h"

namespace paceline::cpu {

using NodeComputation = ::paceline::NodeComputation<ProgramBuilder>;
using LayerComputation = ::paceline::LayerComputation<ProgramBuilder>;

// The computation of a node of `graph`, which outlives it. Unimplemented names
// the layer that the device cannot compute.
absl::StatusOr<std::unique_ptr<NodeComputation>> MakeNodeComputation(
    const Graph& graph, const Node& node, const NodeFunctionSpec& spec);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_NODE_COMPUTATION_H_
