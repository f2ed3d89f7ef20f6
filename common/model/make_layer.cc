#include "common/model/make_layer.h"

#include <string>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "common/config/class_entry.h"
#include "common/config/class_error.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/references_of.h"
#include "common/model/layers/activation.h"
#include "common/model/layers/activity_regularization.h"
#include "common/model/layers/add.h"
#include "common/model/layers/alpha_dropout.h"
#include "common/model/layers/average.h"
#include "common/model/layers/average_pooling1d.h"
#include "common/model/layers/average_pooling2d.h"
#include "common/model/layers/batch_normalization.h"
#include "common/model/layers/bidirectional.h"
#include "common/model/layers/concatenate.h"
#include "common/model/layers/conv1d.h"
#include "common/model/layers/conv2d.h"
#include "common/model/layers/conv2d_transpose.h"
#include "common/model/layers/cropping1d.h"
#include "common/model/layers/cropping2d.h"
#include "common/model/layers/dense.h"
#include "common/model/layers/depthwise_conv2d.h"
#include "common/model/layers/dot.h"
#include "common/model/layers/dropout.h"
#include "common/model/layers/elu.h"
#include "common/model/layers/embedding.h"
#include "common/model/layers/flatten.h"
#include "common/model/layers/gaussian_dropout.h"
#include "common/model/layers/gaussian_noise.h"
#include "common/model/layers/global_average_pooling1d.h"
#include "common/model/layers/global_average_pooling2d.h"
#include "common/model/layers/global_max_pooling1d.h"
#include "common/model/layers/global_max_pooling2d.h"
#include "common/model/layers/group_normalization.h"
#include "common/model/layers/gru.h"
#include "common/model/layers/input_layer.h"
#include "common/model/layers/layer_normalization.h"
#include "common/model/layers/leaky_relu.h"
#include "common/model/layers/lstm.h"
#include "common/model/layers/masking.h"
#include "common/model/layers/max_pooling1d.h"
#include "common/model/layers/max_pooling2d.h"
#include "common/model/layers/maximum.h"
#include "common/model/layers/minimum.h"
#include "common/model/layers/multi_head_attention.h"
#include "common/model/layers/multiply.h"
#include "common/model/layers/normalization.h"
#include "common/model/layers/permute.h"
#include "common/model/layers/prelu.h"
#include "common/model/layers/relu.h"
#include "common/model/layers/repeat_vector.h"
#include "common/model/layers/rescaling.h"
#include "common/model/layers/reshape.h"
#include "common/model/layers/separable_conv2d.h"
#include "common/model/layers/simple_rnn.h"
#include "common/model/layers/softmax.h"
#include "common/model/layers/spatial_dropout1d.h"
#include "common/model/layers/spatial_dropout2d.h"
#include "common/model/layers/subtract.h"
#include "common/model/layers/time_distributed.h"
#include "common/model/layers/up_sampling1d.h"
#include "common/model/layers/up_sampling2d.h"
#include "common/model/layers/zero_padding1d.h"
#include "common/model/layers/zero_padding2d.h"
#include "common/model/nested_model.h"
#include "common/model/repeated_call.h"

namespace paceline {
namespace {

using LayerPtr = std::unique_ptr<Layer>;

// The registry of layers.
const std::vector<ClassEntry<LayerPtr>>& LayerEntries() {
  static const auto& entries = *new std::vector<ClassEntry<LayerPtr>>{
      ClassEntryOf<LayerPtr, Activation>(),
      ClassEntryOf<LayerPtr, ActivityRegularization>(),
      ClassEntryOf<LayerPtr, Add>(),
      ClassEntryOf<LayerPtr, AlphaDropout>(),
      ClassEntryOf<LayerPtr, Average>(),
      ClassEntryOf<LayerPtr, AveragePooling1D>(),
      ClassEntryOf<LayerPtr, AveragePooling2D>(),
      ClassEntryOf<LayerPtr, BatchNormalization>(),
      ClassEntryOf<LayerPtr, Bidirectional>(),
      ClassEntryOf<LayerPtr, Concatenate>(),
      ClassEntryOf<LayerPtr, Conv1D>(),
      ClassEntryOf<LayerPtr, Conv2D>(),
      ClassEntryOf<LayerPtr, Conv2DTranspose>(),
      ClassEntryOf<LayerPtr, Cropping1D>(),
      ClassEntryOf<LayerPtr, Cropping2D>(),
      ClassEntryOf<LayerPtr, Dense>(),
      ClassEntryOf<LayerPtr, DepthwiseConv2D>(),
      ClassEntryOf<LayerPtr, Dot>(),
      ClassEntryOf<LayerPtr, Dropout>(),
      ClassEntryOf<LayerPtr, ELU>(),
      ClassEntryOf<LayerPtr, Embedding>(),
      ClassEntryOf<LayerPtr, Flatten>(),
      ClassEntryOf<LayerPtr, GRU>(),
      ClassEntryOf<LayerPtr, GaussianDropout>(),
      ClassEntryOf<LayerPtr, GaussianNoise>(),
      ClassEntryOf<LayerPtr, GlobalAveragePooling1D>(),
      ClassEntryOf<LayerPtr, GlobalAveragePooling2D>(),
      ClassEntryOf<LayerPtr, GlobalMaxPooling1D>(),
      ClassEntryOf<LayerPtr, GlobalMaxPooling2D>(),
      ClassEntryOf<LayerPtr, GroupNormalization>(),
      ClassEntryOf<LayerPtr, InputLayer>(),
      ClassEntryOf<LayerPtr, LSTM>(),
      ClassEntryOf<LayerPtr, LayerNormalization>(),
      ClassEntryOf<LayerPtr, LeakyReLU>(),
      ClassEntryOf<LayerPtr, Masking>(),
      ClassEntryOf<LayerPtr, MaxPooling1D>(),
      ClassEntryOf<LayerPtr, MaxPooling2D>(),
      ClassEntryOf<LayerPtr, Maximum>(),
      ClassEntryOf<LayerPtr, Minimum>(),
      ClassEntryOf<LayerPtr, MultiHeadAttention>(),
      ClassEntryOf<LayerPtr, Multiply>(),
      ClassEntryOf<LayerPtr, Normalization>(),
      ClassEntryOf<LayerPtr, PReLU>(),
      ClassEntryOf<LayerPtr, Permute>(),
      ClassEntryOf<LayerPtr, ReLU>(),
      ClassEntryOf<LayerPtr, RepeatVector>(),
      ClassEntryOf<LayerPtr, Rescaling>(),
      ClassEntryOf<LayerPtr, Reshape>(),
      ClassEntryOf<LayerPtr, SeparableConv2D>(),
      ClassEntryOf<LayerPtr, SimpleRNN>(),
      ClassEntryOf<LayerPtr, Softmax>(),
      ClassEntryOf<LayerPtr, SpatialDropout1D>(),
      ClassEntryOf<LayerPtr, SpatialDropout2D>(),
      ClassEntryOf<LayerPtr, Subtract>(),
      ClassEntryOf<LayerPtr, TimeDistributed>(),
      ClassEntryOf<LayerPtr, UpSampling1D>(),
      ClassEntryOf<LayerPtr, UpSampling2D>(),
      ClassEntryOf<LayerPtr, ZeroPadding1D>(),
      ClassEntryOf<LayerPtr, ZeroPadding2D>(),
  };
  return entries;
}

}  // namespace

absl::StatusOr<LayerPtr> MakeLayer(const KerasObject& object,
                                   const Path& path) {
  // In Keras, the function Input creates an InputLayer.
  const std::string name =
      object.class_name == "Input" ? InputLayer::kClassName : object.class_name;
  if (name == NestedModel::kClassName || name == RepeatedCall::kClassName) {
    return ClassError(path, name,
                      absl::StrCat(name,
                                   " is for the layers of a model; it is "
                                   "not supported in another layer"),
                      absl::StatusCode::kUnimplemented);
  }
  std::vector<std::string> known = {"Input", NestedModel::kClassName,
                                    RepeatedCall::kClassName};
  for (const ClassEntry<LayerPtr>& entry : LayerEntries()) {
    if (entry.class_name == name) return entry.read(object.config, path);
    known.push_back(entry.class_name);
  }
  return UnknownClass(path, "layer", object.class_name, known);
}

Value Serialize(const Layer& layer) {
  return SerializeByEntry("keras.layers", LayerEntries(), layer);
}

std::vector<ClassReference> LayerReferences() {
  return ReferencesOf(LayerEntries());
}

}  // namespace paceline
