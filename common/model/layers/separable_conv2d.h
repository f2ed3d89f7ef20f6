// A depthwise convolution followed by a pointwise convolution.
#ifndef PACELINE_COMMON_MODEL_LAYERS_SEPARABLE_CONV2D_H_
#define PACELINE_COMMON_MODEL_LAYERS_SEPARABLE_CONV2D_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/initializer.h"
#include "common/model/layers/convolution_layer.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"

namespace paceline {

// activation(pointwise conv(depthwise conv(input)) + bias): (h, w, channels) to
// (h', w', filters). The depthwise convolution is that of DepthwiseConv2D,
// without bias and activation; the pointwise one has a kernel (1, 1, channels ·
// depth_multiplier, filters).
class SeparableConv2D : public ConvolutionLayer<2> {
 public:
  static constexpr char kClassName[] = "SeparableConv2D";
  static const FieldTable<SeparableConv2D>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  std::vector<VariableSpec> Variables(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  int64_t filters = 0;
  int64_t depth_multiplier = 1;
  std::shared_ptr<const Initializer> depthwise_initializer =
      DefaultKernelInitializer();
  std::shared_ptr<const Initializer> pointwise_initializer =
      DefaultKernelInitializer();
  Regularizer depthwise_regularizer;
  Regularizer pointwise_regularizer;
  Constraint depthwise_constraint;
  Constraint pointwise_constraint;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_SEPARABLE_CONV2D_H_
