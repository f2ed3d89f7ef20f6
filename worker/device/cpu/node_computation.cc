#include "worker/device/cpu/node_computation.h"

#include "worker/device/cpu/factor_outputs.h"
#include "worker/device/cpu/operations/operations.h"
#include "worker/device/program/layer_table.h"

namespace paceline::cpu {

absl::StatusOr<std::unique_ptr<NodeComputation>> MakeNodeComputation(
    const Graph& graph, const Node& node, const NodeFunctionSpec& spec) {
  NodeFunctionSpec lowered = spec;
  lowered.stores_factors = IsReadAsFactors(graph, node);
  return MakeFromTables<ProgramBuilder>({"cpu", Operations()}, graph, node,
                                        lowered);
}

}  // namespace paceline::cpu
