#include "common/model/make_layer.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "common/config/class_error.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/references_of.h"
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
#include "common/model/layers/group_normalization.h"
#include "common/model/layers/input_layer.h"
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

namespace paceline {
namespace {

using LayerPtr = std::unique_ptr<Layer>;

struct LayerEntry {
  std::string class_name;
  std::function<absl::StatusOr<LayerPtr>(const Value&, const Path&)> read;
  std::function<ClassReference()> reference;
};

template <typename L>
LayerEntry LayerEntryOf() {
  return {
      L::kClassName,
      [](const Value& config, const Path& path) -> absl::StatusOr<LayerPtr> {
        ASSIGN_OR_RETURN(L layer, L::Fields().Read(config, path));
        return std::make_unique<L>(std::move(layer));
      },
      [] { return L::Fields().Reference(); }};
}

// Every layer there is.
const std::vector<LayerEntry>& LayerEntries() {
  static const auto& entries = *new std::vector<LayerEntry>{
      LayerEntryOf<Activation>(),
      LayerEntryOf<Add>(),
      LayerEntryOf<AveragePooling2D>(),
      LayerEntryOf<BatchNormalization>(),
      LayerEntryOf<Concatenate>(),
      LayerEntryOf<Conv2D>(),
      LayerEntryOf<Dense>(),
      LayerEntryOf<DepthwiseConv2D>(),
      LayerEntryOf<Dropout>(),
      LayerEntryOf<Embedding>(),
      LayerEntryOf<Flatten>(),
      LayerEntryOf<GlobalAveragePooling2D>(),
      LayerEntryOf<GroupNormalization>(),
      LayerEntryOf<InputLayer>(),
      LayerEntryOf<LayerNormalization>(),
      LayerEntryOf<MaxPooling2D>(),
      LayerEntryOf<Multiply>(),
      LayerEntryOf<ReLU>(),
      LayerEntryOf<Rescaling>(),
      LayerEntryOf<Reshape>(),
      LayerEntryOf<SeparableConv2D>(),
      LayerEntryOf<Softmax>(),
      LayerEntryOf<UpSampling2D>(),
      LayerEntryOf<ZeroPadding2D>(),
  };
  return entries;
}

}  // namespace

absl::StatusOr<LayerPtr> MakeLayer(const KerasObject& object,
                                   const Path& path) {
  // Keras' function that makes an InputLayer.
  const std::string name =
      object.class_name == "Input" ? InputLayer::kClassName : object.class_name;
  std::vector<std::string> known = {"Input"};
  for (const LayerEntry& entry : LayerEntries()) {
    if (entry.class_name == name) return entry.read(object.config, path);
    known.push_back(entry.class_name);
  }
  return UnknownClass(path, "layer", object.class_name, known);
}

std::vector<ClassReference> LayerReferences() {
  return ReferencesOf(LayerEntries());
}

}  // namespace paceline
