#include "worker/device/cuda/node_computation.h"

#include "worker/device/cuda/operations/operations.h"
#include "worker/device/program/layer_table.h"

namespace paceline::cuda {

absl::StatusOr<std::unique_ptr<NodeComputation>> MakeNodeComputation(
    const Graph& graph, const Node& node, const NodeFunctionSpec& spec) {
  return MakeFromTables<ProgramBuilder>({"cuda", Operations()}, graph, node,
                                        spec);
}

}  // namespace paceline::cuda
