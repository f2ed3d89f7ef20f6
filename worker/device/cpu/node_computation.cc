#include "worker/device/cpu/node_computation.h"

#include "common/model/layers/activation.h"
#include "common/model/layers/add.h"
#include "common/model/layers/average_pooling2d.h"
#include "common/model/layers/batch_normalization.h"
#include "common/model/layers/concatenate.h"
#include "common/model/layers/conv2d.h"
#include "common/model/layers/dense.h"
#include "common/model/layers/depthwise_conv2d.h"
#include "common/model/layers/dropout.h"
#include "common/model/layers/embedding.h"
#include "common/model/layers/flatten.h"
#include "common/model/layers/global_average_pooling2d.h"
#include "common/model/layers/layer_normalization.h"
#include "common/model/layers/max_pooling2d.h"
#include "common/model/layers/multiply.h"
#include "common/model/layers/relu.h"
#include "common/model/layers/rescaling.h"
#include "common/model/layers/reshape.h"
#include "common/model/layers/separable_conv2d.h"
#include "common/model/layers/softmax.h"
#include "common/model/layers/up_sampling2d.h"
#include "common/model/layers/zero_padding2d.h"
#include "worker/device/cpu/final_activation.h"
#include "worker/device/cpu/layers/layers.h"
#include "worker/device/program/fused_clamp.h"
#include "worker/device/program/layers/activation.h"
#include "worker/device/program/layers/add.h"
#include "worker/device/program/layers/concatenate.h"
#include "worker/device/program/layers/multiply.h"
#include "worker/device/program/layers/reshape.h"

namespace paceline::cpu {
namespace {

constexpr LayerEntry<ProgramBuilder> kLayers[] = {
    {Activation::kClassName, MakeActivation<ProgramBuilder, FinalActivation>},
    {Add::kClassName, MakeAdd<ProgramBuilder>},
    {AveragePooling2D::kClassName, MakeAveragePooling2D},
    {BatchNormalization::kClassName, MakeBatchNormalization},
    {Concatenate::kClassName, MakeConcatenate<ProgramBuilder>},
    {Conv2D::kClassName, MakeConv2D},
    {Dense::kClassName, MakeDense},
    {DepthwiseConv2D::kClassName, MakeDepthwiseConv2D},
    {Dropout::kClassName, MakeDropout},
    {Embedding::kClassName, MakeEmbedding},
    {Flatten::kClassName, MakeReshape<ProgramBuilder>},
    {GlobalAveragePooling2D::kClassName, MakeGlobalAveragePooling2D},
    {LayerNormalization::kClassName, MakeLayerNormalization},
    {MaxPooling2D::kClassName, MakeMaxPooling2D},
    {Multiply::kClassName, MakeMultiply<ProgramBuilder>},
    {ReLU::kClassName, MakeReLU},
    {Rescaling::kClassName, MakeRescaling},
    {Reshape::kClassName, MakeReshape<ProgramBuilder>},
    {SeparableConv2D::kClassName, MakeSeparableConv2D},
    {Softmax::kClassName, MakeSoftmax<ProgramBuilder, FinalActivation>},
    {UpSampling2D::kClassName, MakeUpSampling2D},
    {ZeroPadding2D::kClassName, MakeZeroPadding2D},
};

}  // namespace

absl::StatusOr<std::unique_ptr<NodeComputation>> MakeNodeComputation(
    const Graph& graph, const Node& node) {
  if (IsFusedIntoInput(graph, node)) {
    return MakeReshape<ProgramBuilder>(graph, node);
  }
  return MakeFromTable<ProgramBuilder>(kLayers, "cpu", graph, node);
}

}  // namespace paceline::cpu
