#include "worker/device/cpu/node_computation.h"

#include "common/model/layers/batch_normalization.h"
#include "worker/device/cpu/factor_outputs.h"
#include "worker/device/cpu/layers/layers.h"
#include "worker/device/cpu/operations/operations.h"
#include "worker/device/program/layer_table.h"

namespace paceline::cpu {
namespace {

constexpr LayerEntry<ProgramBuilder> kLayers[] = {
    {BatchNormalization::kClassName, MakeBatchNormalization},
};

}  // namespace

absl::StatusOr<std::unique_ptr<NodeComputation>> MakeNodeComputation(
    const Graph& graph, const Node& node, const NodeFunctionSpec& spec) {
  NodeFunctionSpec lowered = spec;
  lowered.stores_factors = IsReadAsFactors(graph, node);
  return MakeFromTables<ProgramBuilder>({"cpu", kLayers, Operations()}, graph,
                                        node, lowered);
}

}  // namespace paceline::cpu
