// How the CUDA device computes one node of a graph: by a file of its own for
// the layer (layers), or by the operations of the layer (operations).
#ifndef PACELINE_WORKER_DEVICE_CUDA_NODE_COMPUTATION_H_
#define PACELINE_WORKER_DEVICE_CUDA_NODE_COMPUTATION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "common/model/graph.h"
#include "worker/device/cuda/program_builder.h"
#include "worker/device/program/node_computation.h"
#include "worker/device/program/node_function.h"

namespace paceline::cuda {

using NodeComputation = ::paceline::NodeComputation<ProgramBuilder>;
using LayerComputation = ::paceline::LayerComputation<ProgramBuilder>;

// The computation of a node of `graph`, which outlives it. Unimplemented names
// the layer that the device cannot compute.
absl::StatusOr<std::unique_ptr<NodeComputation>> MakeNodeComputation(
    const Graph& graph, const Node& node, const NodeFunctionSpec& spec);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_NODE_COMPUTATION_H_
