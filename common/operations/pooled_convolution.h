// A fused convolution, rectifier and max pooling, which does not store the
// convolution's output.
//
// The first layers of image models are small convolutions, whose output is many
// times as large as their input and as the pooled output. A device that pools
// the output while it computes it saves most of the memory traffic, in forward
// and backward. Only a rewrite (rewrites/fuse_pooling.h) creates these
// operations.
#ifndef PACELINE_COMMON_OPERATIONS_POOLED_CONVOLUTION_H_
#define PACELINE_COMMON_OPERATIONS_POOLED_CONVOLUTION_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/convolution.h"
#include "common/operations/operation.h"
#include "common/operations/window_axis.h"

namespace paceline::op {

struct PooledConvolutionParameters {
  ConvolutionParameters convolution;
  // The pooling's window.
  Window2D pooling;

  Shape ConvolvedShape(const Shape& input, int64_t filters) const {
    return WindowOutputShape(convolution.window, input, filters);
  }
  Shape PooledShape(const Shape& input, int64_t filters) const {
    return WindowOutputShape(pooling, ConvolvedShape(input, filters), filters);
  }
};

// From input, kernel and, with `has_bias`, a bias of shape (filters) to
//
//   y = MaxPooling(max(Convolution(input, kernel) + bias, 0))
//
// where NaN stays NaN. With `has_positions`, there is a second output, int32 of
// the same shape: the position of y in its window, in C order, the first of
// equal ones; -1 where y is not above 0, so that no gradient passes.
class PooledConvolutionOperation final : public Operation {
 public:
  static constexpr char kName[] = "PooledConvolution";

  PooledConvolutionOperation(const PooledConvolutionParameters& parameters,
                             bool has_bias, bool has_positions)
      : parameters_(parameters),
        has_bias_(has_bias),
        has_positions_(has_positions) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;

  const PooledConvolutionParameters& parameters() const { return parameters_; }
  bool has_bias() const { return has_bias_; }
  bool has_positions() const { return has_positions_; }

 private:
  PooledConvolutionParameters parameters_;
  bool has_bias_;
  bool has_positions_;
};

// From the input, the positions and the gradient of y to the gradient of the
// kernel; with `has_row_sum` also to that of the bias, of shape (1, 1, 1,
// filters).
class PooledConvolutionKernelGradientOperation final : public Operation {
 public:
  static constexpr char kName[] = "PooledConvolutionKernelGradient";

  PooledConvolutionKernelGradientOperation(
      const PooledConvolutionParameters& parameters, bool has_row_sum)
      : parameters_(parameters), has_row_sum_(has_row_sum) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;

  const PooledConvolutionParameters& parameters() const { return parameters_; }
  bool has_row_sum() const { return has_row_sum_; }

 private:
  PooledConvolutionParameters parameters_;
  bool has_row_sum_;
};

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_POOLED_CONVOLUTION_H_
