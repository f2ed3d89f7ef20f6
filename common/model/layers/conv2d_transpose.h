// Transposed convolution of images.
#ifndef PACELINE_COMMON_MODEL_LAYERS_CONV2D_TRANSPOSE_H_
#define PACELINE_COMMON_MODEL_LAYERS_CONV2D_TRANSPOSE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/initializer.h"
#include "common/model/layers/convolution_layer.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"

namespace paceline {

// The gradient of a convolution with respect to its input: (h, w, channels) to
// (h', w', filters), with kernel (kh, kw, filters, channels) and bias
// (filters). That convolution has these strides, padding and dilation, and
// makes (h, w) of (h', w').
class Conv2DTranspose : public ConvolutionLayer<2> {
 public:
  static constexpr char kClassName[] = "Conv2DTranspose";
  static const FieldTable<Conv2DTranspose>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  std::vector<VariableSpec> Variables(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  int64_t filters = 0;
  // Which of the sizes that the convolution makes (h, w) of; nullopt: `stride`
  // times as large as the input, at least.
  std::optional<std::array<int64_t, 2>> output_padding;
  std::shared_ptr<const Initializer> kernel_initializer =
      DefaultKernelInitializer();
  Regularizer kernel_regularizer;
  Constraint kernel_constraint;

 private:
  // The height or the width of the output.
  int64_t OutputSize(size_t axis, int64_t input) const;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_CONV2D_TRANSPOSE_H_
