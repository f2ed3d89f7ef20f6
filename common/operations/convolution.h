// Convolution of images, and the two operations that go back from it.
//
// All three are linear in each of their inputs, and each one's gradients are
// the other two:
//
//   y  = Convolution(x, k)
//   x' = ConvolutionInputGradient(y, k)    Conv2DTranspose is this one
//   k' = ConvolutionKernelGradient(x, y)
//
// Images are (batch, height, width, channels). The kernel is (height, width,
// channels / groups, filters), and is not flipped. Channels, and so filters,
// fall into groups that lie one behind the other; filters read their group. So
// the kernel of a depthwise convolution is that of as many groups as channels.
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
  // Its sizes are the kernel's.
  Window2D window;
  int64_t groups = 1;
};

// What a convolution does to what it gives. Only a rewrite
// (rewrites/fuse_bias.h) makes one.
struct ConvolutionOptions {
  // A third input, of shape (filters), is added to each pixel of the output.
  bool has_bias = false;
  // Then max(y, 0) is taken; NaN stays NaN.
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

  // `has_row_sum`: there is a second output, of shape (1, 1, 1, filters), the
  // sum of the pixels of the output gradient, which is that by a bias. Made by
  // a rewrite (rewrites/fuse_row_sum.h) alone.
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

// Of Σ output_gradient · Convolution(x, kernel), by an x of this shape.
Tensor ConvolutionInputGradient(const Tensor& output_gradient,
                                const Tensor& kernel,
                                const ConvolutionParameters& parameters,
                                Shape input_shape);

// Of Σ output_gradient · Convolution(input, k), by k.
Tensor ConvolutionKernelGradient(const Tensor& input,
                                 const Tensor& output_gradient,
                                 const ConvolutionParameters& parameters);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_CONVOLUTION_H_
