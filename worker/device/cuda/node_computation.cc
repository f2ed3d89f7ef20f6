#include "worker/device/cuda/node_computation.h"

#include "common/model/layers/batch_normalization.h"
#include "worker/device/cuda/layers/layers.h"
#include "worker/device/cuda/operations/operations.h"
#include "worker/device/program/layer_table.h"

namespace paceline::cuda {
namespace {

constexpr LayerEntry<ProgramBuilder> kLayers[] = {
    {BatchNormalization::kClassName, MakeBatchNormalization},
};

}  // namespace

absl::StatusOr<std::unique_ptr<NodeComputation>> MakeNodeComputation(
    const Graph& graph, const Node& node, const NodeFunctionSpec& spec) {
  return MakeFromTables<ProgramBuilder>({"cuda", kLayers, Operations()}, graph,
                                        node, spec);
}

}  // namespace paceline::cuda
