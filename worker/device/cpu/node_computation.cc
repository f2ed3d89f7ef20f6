#include "worker/device/cpu/node_computation.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
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
#include "worker/device/cpu/fused_clamp.h"
#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {
namespace {

struct Entry {
  const char* class_name;
  NodeFactory* make;
};

constexpr Entry kLayers[] = {
    {Activation::kClassName, MakeActivation},
    {Add::kClassName, MakeAdd},
    {AveragePooling2D::kClassName, MakeAveragePooling2D},
    {BatchNormalization::kClassName, MakeBatchNormalization},
    {Concatenate::kClassName, MakeConcatenate},
    {Conv2D::kClassName, MakeConv2D},
    {Dense::kClassName, MakeDense},
    {DepthwiseConv2D::kClassName, MakeDepthwiseConv2D},
    {Dropout::kClassName, MakeDropout},
    {Embedding::kClassName, MakeEmbedding},
    {Flatten::kClassName, MakeReshape},
    {GlobalAveragePooling2D::kClassName, MakeGlobalAveragePooling2D},
    {LayerNormalization::kClassName, MakeLayerNormalization},
    {MaxPooling2D::kClassName, MakeMaxPooling2D},
    {Multiply::kClassName, MakeMultiply},
    {ReLU::kClassName, MakeReLU},
    {Rescaling::kClassName, MakeRescaling},
    {Reshape::kClassName, MakeReshape},
    {SeparableConv2D::kClassName, MakeSeparableConv2D},
    {Softmax::kClassName, MakeSoftmax},
    {UpSampling2D::kClassName, MakeUpSampling2D},
    {ZeroPadding2D::kClassName, MakeZeroPadding2D},
};

}  // namespace

Tensor* Overwritable(const OutputGradient& gradient, ProgramBuilder& builder) {
  Tensor* const original = gradient.tensor;
  if (!gradient.is_shared) return original;
  Tensor* const copy = builder.NewTensor(original->shape);
  builder.AddParallel(
      {original, copy}, original->count(), 1, [=](int64_t begin, int64_t end) {
        std::copy(original->floats() + begin, original->floats() + end,
                  copy->floats() + begin);
      });
  return copy;
}

absl::StatusOr<std::unique_ptr<NodeComputation>> MakeNodeComputation(
    const Graph& graph, const Node& node) {
  if (IsFusedIntoInput(graph, node)) return MakeReshape(graph, node);
  for (const Entry& entry : kLayers) {
    if (node.layer->class_name() == entry.class_name) {
      return entry.make(graph, node);
    }
  }
  return absl::UnimplementedError(
      absl::StrCat("layer ", node.layer->name, " (", node.layer->class_name(),
                   "): the cpu device cannot compute it"));
}

}  // namespace paceline::cpu
