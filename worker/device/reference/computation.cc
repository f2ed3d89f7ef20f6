#include "worker/device/reference/computation.h"

#include "absl/strings/string_view.h"
#include "common/model/layers/activation.h"
#include "common/model/layers/flatten.h"
#include "common/model/layers/input_layer.h"
#include "common/model/layers/reshape.h"
#include "glog/logging.h"
#include "worker/device/reference/layers/activation.h"
#include "worker/device/reference/layers/add.h"
#include "worker/device/reference/layers/average_pooling2d.h"
#include "worker/device/reference/layers/batch_normalization.h"
#include "worker/device/reference/layers/concatenate.h"
#include "worker/device/reference/layers/conv2d.h"
#include "worker/device/reference/layers/dense.h"
#include "worker/device/reference/layers/depthwise_conv2d.h"
#include "worker/device/reference/layers/dropout.h"
#include "worker/device/reference/layers/embedding.h"
#include "worker/device/reference/layers/global_average_pooling2d.h"
#include "worker/device/reference/layers/identity.h"
#include "worker/device/reference/layers/layer_normalization.h"
#include "worker/device/reference/layers/max_pooling2d.h"
#include "worker/device/reference/layers/multiply.h"
#include "worker/device/reference/layers/relu.h"
#include "worker/device/reference/layers/rescaling.h"
#include "worker/device/reference/layers/separable_conv2d.h"
#include "worker/device/reference/layers/softmax.h"
#include "worker/device/reference/layers/up_sampling2d.h"
#include "worker/device/reference/layers/zero_padding2d.h"
#include "worker/device/reference/losses/binary_crossentropy.h"
#include "worker/device/reference/losses/categorical_crossentropy.h"
#include "worker/device/reference/losses/mean_squared_error.h"
#include "worker/device/reference/losses/sparse_categorical_crossentropy.h"
#include "worker/device/reference/metrics/binary_accuracy.h"
#include "worker/device/reference/metrics/categorical_accuracy.h"
#include "worker/device/reference/metrics/sparse_categorical_accuracy.h"
#include "worker/device/reference/metrics/sparse_top_k_categorical_accuracy.h"
#include "worker/device/reference/metrics/top_k_categorical_accuracy.h"

namespace paceline::reference {
namespace {

// --- Layers

template <typename T>
using LayerPtr = std::unique_ptr<NodeComputation<T>>;

template <typename T>
struct LayerEntry {
  const char* class_name;
  LayerPtr<T> (*make)(const LayerContext<T>&);
};

template <typename T, template <typename> class Computation>
LayerPtr<T> MakeLayerOf(const LayerContext<T>& context) {
  return std::make_unique<Computation<T>>(context);
}

template <typename T>
LayerPtr<T> MakeIdentity(const LayerContext<T>& /*context*/) {
  return std::make_unique<IdentityComputation<T>>();
}

// A softmax along the last axis is the layer's final activation.
template <typename T>
LayerPtr<T> MakeSoftmax(const LayerContext<T>& context) {
  if (context.layer->final_activation() == ActivationFunction::kSoftmax) {
    return MakeIdentity(context);
  }
  return std::make_unique<SoftmaxComputation<T>>(context);
}

template <typename T>
constexpr LayerEntry<T> kLayers[] = {
    {Activation::kClassName, MakeIdentity<T>},
    {Add::kClassName, MakeLayerOf<T, AddComputation>},
    {AveragePooling2D::kClassName, MakeLayerOf<T, AveragePooling2DComputation>},
    {BatchNormalization::kClassName,
     MakeLayerOf<T, BatchNormalizationComputation>},
    {Concatenate::kClassName, MakeLayerOf<T, ConcatenateComputation>},
    {Conv2D::kClassName, MakeLayerOf<T, Conv2DComputation>},
    {Dense::kClassName, MakeLayerOf<T, DenseComputation>},
    {DepthwiseConv2D::kClassName, MakeLayerOf<T, DepthwiseConv2DComputation>},
    {Dropout::kClassName, MakeLayerOf<T, DropoutComputation>},
    {Embedding::kClassName, MakeLayerOf<T, EmbeddingComputation>},
    {Flatten::kClassName, MakeIdentity<T>},
    {GlobalAveragePooling2D::kClassName,
     MakeLayerOf<T, GlobalAveragePooling2DComputation>},
    {InputLayer::kClassName, MakeIdentity<T>},
    {LayerNormalization::kClassName,
     MakeLayerOf<T, LayerNormalizationComputation>},
    {MaxPooling2D::kClassName, MakeLayerOf<T, MaxPooling2DComputation>},
    {Multiply::kClassName, MakeLayerOf<T, MultiplyComputation>},
    {ReLU::kClassName, MakeLayerOf<T, ReLUComputation>},
    {Rescaling::kClassName, MakeLayerOf<T, RescalingComputation>},
    {Reshape::kClassName, MakeIdentity<T>},
    {SeparableConv2D::kClassName, MakeLayerOf<T, SeparableConv2DComputation>},
    {Softmax::kClassName, MakeSoftmax<T>},
    {UpSampling2D::kClassName, MakeLayerOf<T, UpSampling2DComputation>},
    {ZeroPadding2D::kClassName, MakeLayerOf<T, ZeroPadding2DComputation>},
};

// --- Losses

template <typename T>
using LossPtr = std::unique_ptr<LossComputation<T>>;

template <typename T>
struct LossEntry {
  const char* class_name;
  LossPtr<T> (*make)(const Loss&, bool);
};

template <typename T, template <typename> class Computation>
LossPtr<T> MakeLossOf(const Loss& loss, bool from_logits) {
  return std::make_unique<Computation<T>>(loss, from_logits);
}

template <typename T>
constexpr LossEntry<T> kLosses[] = {
    {BinaryCrossentropy::kClassName,
     MakeLossOf<T, BinaryCrossentropyComputation>},
    {CategoricalCrossentropy::kClassName,
     MakeLossOf<T, CategoricalCrossentropyComputation>},
    {MeanSquaredError::kClassName, MakeLossOf<T, MeanSquaredErrorComputation>},
    {SparseCategoricalCrossentropy::kClassName,
     MakeLossOf<T, SparseCategoricalCrossentropyComputation>},
};

// --- Metrics

template <typename T>
using MetricPtr = std::unique_ptr<MetricComputation<T>>;

template <typename T>
struct MetricEntry {
  const char* class_name;
  MetricPtr<T> (*make)(const Metric&);
};

template <typename T, template <typename> class Computation>
MetricPtr<T> MakeMetricOf(const Metric& metric) {
  return std::make_unique<Computation<T>>(metric);
}

template <typename T>
constexpr MetricEntry<T> kMetrics[] = {
    {BinaryAccuracy::kClassName, MakeMetricOf<T, BinaryAccuracyComputation>},
    {CategoricalAccuracy::kClassName,
     MakeMetricOf<T, CategoricalAccuracyComputation>},
    {SparseCategoricalAccuracy::kClassName,
     MakeMetricOf<T, SparseCategoricalAccuracyComputation>},
    {SparseTopKCategoricalAccuracy::kClassName,
     MakeMetricOf<T, SparseTopKCategoricalAccuracyComputation>},
    {TopKCategoricalAccuracy::kClassName,
     MakeMetricOf<T, TopKCategoricalAccuracyComputation>},
};

// The entry of a class; null if there is none.
template <typename Entry, size_t kSize>
const Entry* Find(const Entry (&entries)[kSize], absl::string_view class_name) {
  for (const Entry& entry : entries) {
    if (entry.class_name == class_name) return &entry;
  }
  return nullptr;
}

}  // namespace

bool IsSupported(const Layer& layer) {
  return Find(kLayers<float>, layer.class_name()) != nullptr;
}

template <typename T>
LayerPtr<T> MakeLayerComputation(const LayerContext<T>& context) {
  const auto* entry = Find(kLayers<T>, context.layer->class_name());
  CHECK(entry != nullptr) << context.layer->class_name();
  return entry->make(context);
}

template <typename T>
LayerPtr<T> MakeActivationComputation(ActivationFunction function) {
  return std::make_unique<ActivationComputation<T>>(function);
}

template <typename T>
LossPtr<T> MakeLossComputation(const Loss& loss, bool from_logits) {
  const auto* entry = Find(kLosses<T>, loss.class_name());
  CHECK(entry != nullptr) << loss.class_name();
  return entry->make(loss, from_logits);
}

template <typename T>
MetricPtr<T> MakeMetricComputation(const Metric& metric) {
  const auto* entry = Find(kMetrics<T>, metric.class_name());
  CHECK(entry != nullptr) << metric.class_name();
  return entry->make(metric);
}

#define PACELINE_INSTANTIATE(T)                                          \
  template LayerPtr<T> MakeLayerComputation(const LayerContext<T>&);     \
  template LayerPtr<T> MakeActivationComputation<T>(ActivationFunction); \
  template LossPtr<T> MakeLossComputation<T>(const Loss&, bool);         \
  template MetricPtr<T> MakeMetricComputation<T>(const Metric&)
PACELINE_INSTANTIATE(float);
PACELINE_INSTANTIATE(double);
#undef PACELINE_INSTANTIATE

}  // namespace paceline::reference
