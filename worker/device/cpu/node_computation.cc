#include "worker/device/cpu/node_computation.h"

#include "common/model/layers/batch_normalization.h"
#include "common/model/layers/conv2d.h"
#include "common/model/layers/depthwise_conv2d.h"
#include "common/model/layers/layer_normalization.h"
#include "common/model/layers/separable_conv2d.h"
#include "worker/device/cpu/layers/layers.h"
#include "worker/device/cpu/operations/operations.h"
#include "worker/device/program/layer_table.h"

namespace paceline::cpu {
namespace {

constexpr LayerEntry<ProgramBuilder> kLayers[] = {
    {BatchNormalization::kClassName, MakeBatchNormalization},
    {Conv2D::kClassName, MakeConv2D},
    {DepthwiseConv2D::kClassName, MakeDepthwiseConv2D},
    {LayerNormalization::kClassName, MakeLayerNormalization},
    {SeparableConv2D::kClassName, MakeSeparableConv2D},
};

}  // namespace

absl::StatusOr<std::unique_ptr<NodeComputation>> MakeNodeComputation(
    const Graph& graph, const Node& node, const NodeFunctionSpec& spec) {
  return MakeFromTables<ProgramBuilder>({"cpu", kLayers, Operations()}, graph,
                                        node, spec);
}

}  // namespace paceline::cpu
