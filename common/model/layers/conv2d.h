// Convolution of images.
#ifndef PACELINE_COMMON_MODEL_LAYERS_CONV2D_H_
#define PACELINE_COMMON_MODEL_LAYERS_CONV2D_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/activation.h"
#include "common/model/initializer.h"
#include "common/model/layer.h"
#include "common/model/variable.h"
#include "common/model/window.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// activation(conv(input, kernel) + bias): (h, w, channels) to (h', w',
// filters), with kernel (kh, kw, channels, filters) and bias (filters). As in
// Keras, the kernel is not flipped.
class Conv2D : public Layer {
 public:
  static constexpr char kClassName[] = "Conv2D";
  static const FieldTable<Conv2D>& Fields();

  Conv2D() = default;
  Conv2D(int64_t filter_count, std::array<int64_t, 2> size)
      : filters(filter_count), kernel_size(size) {}

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  std::vector<VariableSpec> Variables(
      absl::Span<const Shape> inputs) const override;
  ActivationFunction final_activation() const override { return activation; }

  // The window along each of height and width.
  std::array<Window, 2> windows() const;

  int64_t filters = 0;
  std::array<int64_t, 2> kernel_size = {1, 1};
  std::array<int64_t, 2> strides = {1, 1};
  Padding padding = Padding::kValid;
  std::array<int64_t, 2> dilation_rate = {1, 1};
  ActivationFunction activation = ActivationFunction::kLinear;
  bool use_bias = true;
  std::shared_ptr<const Initializer> kernel_initializer =
      DefaultKernelInitializer();
  std::shared_ptr<const Initializer> bias_initializer = ZerosInitializer();
  Regularizer kernel_regularizer;
  Regularizer bias_regularizer;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_CONV2D_H_
