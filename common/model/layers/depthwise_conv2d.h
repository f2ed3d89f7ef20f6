// Convolution of each channel separately.
#ifndef PACELINE_COMMON_MODEL_LAYERS_DEPTHWISE_CONV2D_H_
#define PACELINE_COMMON_MODEL_LAYERS_DEPTHWISE_CONV2D_H_

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

// activation(conv(input, kernel) + bias): (h, w, channels) to (h', w', channels
// · depth_multiplier), with kernel (kh, kw, channels, depth_multiplier). Filter
// m of channel c produces channel c · depth_multiplier + m. This is a Conv2D
// with as many groups as channels, and the kernel has the same memory layout.
class DepthwiseConv2D : public ConvolutionLayer<2> {
 public:
  static constexpr char kClassName[] = "DepthwiseConv2D";
  static const FieldTable<DepthwiseConv2D>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  std::vector<VariableSpec> Variables(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  int64_t depth_multiplier = 1;
  std::shared_ptr<const Initializer> depthwise_initializer =
      DefaultKernelInitializer();
  Regularizer depthwise_regularizer;
  Constraint depthwise_constraint;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_DEPTHWISE_CONV2D_H_
