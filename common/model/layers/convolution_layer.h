// The base of layers that convolve images.
#ifndef PACELINE_COMMON_MODEL_LAYERS_CONVOLUTION_LAYER_H_
#define PACELINE_COMMON_MODEL_LAYERS_CONVOLUTION_LAYER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/config/field_table.h"
#include "common/model/activation.h"
#include "common/model/initializer.h"
#include "common/model/keras_fields.h"
#include "common/model/layer.h"
#include "common/model/layers/variable_fields.h"
#include "common/model/variable.h"
#include "common/model/window.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

// Maximum filters per channel; times any number of channels far below overflow.
inline constexpr int64_t kMaxDepthMultiplier = 1 << 20;

class ConvolutionLayer : public Layer {
 public:
  ActivationFunction final_activation() const override { return activation; }

  // The windows along height and width.
  std::array<Window, 2> windows() const;

  std::array<int64_t, 2> kernel_size = {1, 1};
  std::array<int64_t, 2> strides = {1, 1};
  Padding padding = Padding::kValid;
  std::array<int64_t, 2> dilation_rate = {1, 1};
  ActivationFunction activation = ActivationFunction::kLinear;
  bool use_bias = true;
  std::shared_ptr<const Initializer> bias_initializer = ZerosInitializer();
  Regularizer bias_regularizer;

 protected:
  // From (h, w, channels) to (h', w', filters).
  absl::StatusOr<Shape> ConvolvedShape(const Shape& input,
                                       int64_t filters) const;

  // The convolution of images with a kernel, in groups.
  op::Tensor Convolved(const op::Tensor& images, const op::Tensor& kernel,
                       int64_t groups) const;
  // The convolution of each channel; the kernel is (height, width, channels,
  // filters per channel).
  op::Tensor DepthwiseConvolved(const op::Tensor& images,
                                const op::Tensor& kernel) const;
  // Adds the bias, which is the last of the variables, if there is one.
  op::Tensor WithBias(const op::Tensor& images,
                      absl::Span<const op::Tensor> variables) const;

  // Appends the bias's spec, if there is a bias.
  void AddBias(int64_t filters, std::vector<VariableSpec>& variables) const;
};

// The fields of layer `L`, in Keras' order: its `sizes`, the window, its
// `groups`, the bias, its `kernels`.
template <typename L>
std::vector<Field<L>> ConvolutionFields(std::vector<Field<L>> sizes,
                                        std::vector<Field<L>> groups,
                                        std::vector<VariableKeys<L>> kernels) {
  std::vector<Field<L>> window = {
      Required("kernel_size", &L::kernel_size, Between(1, kMaxWindow),
               "Height and width of the kernel."),
      Optional("strides", &L::strides, Between(1, kMaxWindow),
               "Steps along height and width."),
      Optional("padding", &L::padding, "What is around the image."),
      Only("data_format", "channels_last", "Layout of images."),
      Optional("dilation_rate", &L::dilation_rate, Between(1, kMaxWindow),
               "Distance of kernel elements.")};
  std::vector<Field<L>> output = {
      Optional("activation", &L::activation, "Activation of the output."),
      Optional("use_bias", &L::use_bias, "Whether a bias is added.")};
  std::vector<VariableKeys<L>> variables = std::move(kernels);
  variables.push_back(
      {"bias", "the bias", &L::bias_initializer, &L::bias_regularizer});
  return LayerFields<L>(
      Joined<L>({std::move(sizes), std::move(window), std::move(groups),
                 std::move(output),
                 VariableFields<L>(variables, ActivityRegularizerField())}));
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_CONVOLUTION_LAYER_H_
