// Convolution of images, and the two operations of its backward.
//
// All three are linear in each input, and the gradients of each are the other
// two:
//
//   y  = Convolution(x, k)
//   x' = ConvolutionInputGradient(y, k)    the forward of Conv2DTranspose
//   k' = ConvolutionKernelGradient(x, y)
//
// Images are (batch, height, width, channels). The kernel is (height, width,
// channels / groups, filters), and is not flipped (cross-correlation). Channels
// and filters are divided into groups of consecutive ones; a filter reads its
// group's channels. A depthwise convolution has as many groups as channels.
#ifndef PACELINE_COMMON_OPERATIONS_CONVOLUTION_H_
#define PACELINE_COMMON_OPERATIONS_CONVOLUTION_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"
#include "common/operations/window_axis.h"

namespace paceline::op {

struct ConvolutionParameters {
  // The window's sizes are the kernel's.
  Window2D window;
  int64_t groups = 1;
};

// Operations fused into a convolution. Only a rewrite (rewrites/fuse_bias.h)
// creates these.
struct ConvolutionOptions {
  // A third input, of shape (filters), is added to each pixel of the output.
  bool has_bias = false;
  // Then max(y, 0) is applied, in which NaN stays NaN.
  bool rectifies = false;
};

class ConvolutionOperation final : public Operation {
 public:
  static constexpr char kName[] = "Convolution";

  explicit ConvolutionOperation(const ConvolutionParameters& parameters,
                                const ConvolutionOptions& options = {})
      : parameters_(parameters), options_(options) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  const ConvolutionParameters& parameters() const { return parameters_; }
  const ConvolutionOptions& options() const { return options_; }

 private:
  ConvolutionParameters parameters_;
  ConvolutionOptions options_;
};

class ConvolutionInputGradientOperation final : public Operation {
 public:
  static constexpr char kName[] = "ConvolutionInputGradient";

  ConvolutionInputGradientOperation(const ConvolutionParameters& parameters,
                                    Shape input_shape)
      : parameters_(parameters), input_shape_(std::move(input_shape)) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  const ConvolutionParameters& parameters() const { return parameters_; }

 private:
  ConvolutionParameters parameters_;
  Shape input_shape_;
};

class ConvolutionKernelGradientOperation final : public Operation {
 public:
  static constexpr char kName[] = "ConvolutionKernelGradient";

  // `has_row_sum`: a second output, of shape (1, 1, 1, filters), is the sum
  // over the pixels of the output's gradient, which is the gradient of a bias.
  // Only a rewrite (rewrites/fuse_row_sum.h) creates it.
  explicit ConvolutionKernelGradientOperation(
      const ConvolutionParameters& parameters, bool has_row_sum = false)
      : parameters_(parameters), has_row_sum_(has_row_sum) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  const ConvolutionParameters& parameters() const { return parameters_; }
  bool has_row_sum() const { return has_row_sum_; }

 private:
  ConvolutionParameters parameters_;
  bool has_row_sum_;
};

Tensor Convolution(const Tensor& input, const Tensor& kernel,
                   const ConvolutionParameters& parameters);

// The gradient of Σ output_gradient · Convolution(x, kernel) with respect to an
// x of this shape.
Tensor ConvolutionInputGradient(const Tensor& output_gradient,
                                const Tensor& kernel,
                                const ConvolutionParameters& parameters,
                                Shape input_shape);

// The gradient of Σ output_gradient · Convolution(input, k) with respect to k.
Tensor ConvolutionKernelGradient(const Tensor& input,
                                 const Tensor& output_gradient,
                                 const ConvolutionParameters& parameters);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_CONVOLUTION_H_
