// The base of layers that convolve images or sequences.
#ifndef PACELINE_COMMON_MODEL_LAYERS_CONVOLUTION_LAYER_H_
#define PACELINE_COMMON_MODEL_LAYERS_CONVOLUTION_LAYER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/config/field_table.h"
#include "common/model/activation.h"
#include "common/model/initializer.h"
#include "common/model/keras_fields.h"
#include "common/model/layer.h"
#include "common/model/layers/sequence.h"
#include "common/model/layers/variable_fields.h"
#include "common/model/variable.h"
#include "common/model/window.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

// Maximum filters per channel; times any number of channels far below overflow.
inline constexpr int64_t kMaxDepthMultiplier = 1 << 20;

// `rank`: 2 for images, 1 for sequences. Kernels begin with `rank` axes.
template <size_t rank>
class ConvolutionLayer : public Layer {
 public:
  static constexpr size_t kRank = rank;
  using Sizes = std::array<int64_t, rank>;
  using LayerPadding = std::conditional_t<rank == 1, SequencePadding, Padding>;

  ActivationFunction final_activation() const override { return activation; }

  Sizes kernel_size = AllOne();
  Sizes strides = AllOne();
  LayerPadding padding = LayerPadding::kValid;
  Sizes dilation_rate = AllOne();
  ActivationFunction activation = ActivationFunction::kLinear;
  bool use_bias = true;
  std::shared_ptr<const Initializer> bias_initializer = ZerosInitializer();
  Regularizer bias_regularizer;
  Constraint bias_constraint;

 protected:
  // The windows along the axes.
  std::array<Window, rank> windows() const;
  // InvalidArgument unless strides and dilation fit each other.
  absl::Status CheckWindows() const;
  // From (positions..., channels) to (positions'..., filters).
  absl::StatusOr<Shape> ConvolvedShape(const Shape& input,
                                       int64_t filters) const;
  // The shape of a kernel, whose last axes have these sizes.
  Shape KernelShape(int64_t channels, int64_t filters) const;

  // The convolution of the input with a kernel, in groups.
  op::Tensor Convolved(const op::Tensor& input, const op::Tensor& kernel,
                       int64_t groups) const;
  // The convolution of each channel; the kernel is (..., channels, filters per
  // channel).
  op::Tensor DepthwiseConvolved(const op::Tensor& input,
                                const op::Tensor& kernel) const;
  // Adds the bias, which is the last of the variables, if there is one.
  op::Tensor WithBias(const op::Tensor& output,
                      absl::Span<const op::Tensor> variables) const;

  // Appends the bias's spec, if there is a bias.
  void AddBias(int64_t filters, std::vector<VariableSpec>& variables) const;

 private:
  static Sizes AllOne() {
    Sizes sizes;
    sizes.fill(1);
    return sizes;
  }
};

// The fields of layer `L`, in Keras' order: its `sizes`, the window with what
// is `behind_padding`, its `groups`, the bias, its `kernels`.
template <typename L>
std::vector<Field<L>> ConvolutionFields(
    std::vector<Field<L>> sizes, std::vector<Field<L>> groups,
    std::vector<VariableKeys<L>> kernels,
    std::vector<Field<L>> behind_padding = {}) {
  constexpr bool kIsImage = L::kRank == 2;
  std::vector<Field<L>> window = {
      Required("kernel_size", &L::kernel_size, Between(1, kMaxWindow),
               kIsImage ? "Height and width of the kernel."
                        : "Steps in the kernel."),
      Optional("strides", &L::strides, Between(1, kMaxWindow),
               kIsImage ? "Steps along height and width."
                        : "From window to window."),
      Optional("padding", &L::padding,
               kIsImage ? "What is around the image."
                        : "What is around the sequence; causal: zeros before "
                          "it, so that an output reads no later step.")};
  std::vector<Field<L>> layout = {
      Only("data_format", "channels_last",
           "Layout of " + InputsName<L::kRank>() + "."),
      Optional("dilation_rate", &L::dilation_rate, Between(1, kMaxWindow),
               "Distance of kernel elements.")};
  std::vector<Field<L>> output = {
      Optional("activation", &L::activation, "Activation of the output."),
      Optional("use_bias", &L::use_bias, "Whether a bias is added.")};
  std::vector<VariableKeys<L>> variables = std::move(kernels);
  variables.push_back({"bias", "the bias", &L::bias_initializer,
                       &L::bias_regularizer, &L::bias_constraint});
  return LayerFields<L>(Joined<L>(
      {std::move(sizes), std::move(window), std::move(behind_padding),
       std::move(layout), std::move(groups), std::move(output),
       VariableFields<L>(variables, NullActivityRegularizerField())}));
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_CONVOLUTION_LAYER_H_
