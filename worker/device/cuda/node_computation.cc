#include "worker/device/cuda/node_computation.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/model/layers/activation.h"
#include "common/model/layers/average_pooling2d.h"
#include "common/model/layers/batch_normalization.h"
#include "common/model/layers/conv2d.h"
#include "common/model/layers/dense.h"
#include "common/model/layers/dropout.h"
#include "common/model/layers/flatten.h"
#include "common/model/layers/global_average_pooling2d.h"
#include "common/model/layers/max_pooling2d.h"
#include "common/model/layers/relu.h"
#include "common/model/layers/reshape.h"
#include "common/model/layers/softmax.h"
#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
namespace {

struct Entry {
  const char* class_name;
  NodeFactory* make;
};

constexpr Entry kLayers[] = {
    {Activation::kClassName, MakeActivation},
    {AveragePooling2D::kClassName, MakeAveragePooling2D},
    {BatchNormalization::kClassName, MakeBatchNormalization},
    {Conv2D::kClassName, MakeConv2D},
    {Dense::kClassName, MakeDense},
    {Dropout::kClassName, MakeDropout},
    {Flatten::kClassName, MakeReshape},
    {GlobalAveragePooling2D::kClassName, MakeGlobalAveragePooling2D},
    {MaxPooling2D::kClassName, MakeMaxPooling2D},
    {ReLU::kClassName, MakeReLU},
    {Reshape::kClassName, MakeReshape},
    {Softmax::kClassName, MakeSoftmax},
};

}  // namespace

absl::StatusOr<std::unique_ptr<NodeComputation>> MakeNodeComputation(
    const Graph& graph, const Node& node) {
  const char* settings = "";
  for (const Entry& entry : kLayers) {
    if (node.layer->class_name() != entry.class_name) continue;
    if (auto computation = entry.make(graph, node)) return computation;
    settings = " with these settings";
  }
  return absl::UnimplementedError(
      absl::StrCat("layer ", node.layer->name, " (", node.layer->class_name(),
                   "): the cuda device cannot compute it", settings));
}

}  // namespace paceline::cuda
