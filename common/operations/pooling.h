// Pooling of images (batch, height, width, channels), and what goes back.
#ifndef PACELINE_COMMON_OPERATIONS_POOLING_H_
#define PACELINE_COMMON_OPERATIONS_POOLING_H_

#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"
#include "common/operations/window_axis.h"

namespace paceline::op {

// The largest element of each window; NaN is above all numbers. May rectify: an
// output below 0 is 0, which is the same as to rectify what goes in.
class MaxPoolingOperation final : public Operation {
 public:
  static constexpr char kName[] = "MaxPooling";

  explicit MaxPoolingOperation(const Window2D& window, bool rectifies = false)
      : window_(window), rectifies_(rectifies) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  const Window2D& window() const { return window_; }
  bool rectifies() const { return rectifies_; }

 private:
  Window2D window_;
  bool rectifies_;
};

// Over the elements of the window that are in the image.
class AveragePoolingOperation final : public Operation {
 public:
  static constexpr char kName[] = "AveragePooling";

  explicit AveragePoolingOperation(const Window2D& window) : window_(window) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  const Window2D& window() const { return window_; }

 private:
  Window2D window_;
};

// From the input of the pooling, its output, and the gradient by that to the
// gradient by the input. Of equal maxima of a window the first one gets all;
// of a window with NaN, any one element. With `rectifies`, by what goes into
// the rectifier: where the output is not above 0, nobody gets anything.
class MaxPoolingGradientOperation final : public Operation {
 public:
  static constexpr char kName[] = "MaxPoolingGradient";

  explicit MaxPoolingGradientOperation(const Window2D& window,
                                       bool rectifies = false)
      : window_(window), rectifies_(rectifies) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;

  const Window2D& window() const { return window_; }
  bool rectifies() const { return rectifies_; }

 private:
  Window2D window_;
  bool rectifies_;
};

// From the gradient by the output of the pooling to that by its input.
class AveragePoolingGradientOperation final : public Operation {
 public:
  static constexpr char kName[] = "AveragePoolingGradient";

  AveragePoolingGradientOperation(const Window2D& window, Shape input_shape)
      : window_(window), input_shape_(std::move(input_shape)) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  const Window2D& window() const { return window_; }

 private:
  Window2D window_;
  Shape input_shape_;
};

Tensor MaxPooling(const Tensor& x, const Window2D& window);
Tensor AveragePooling(const Tensor& x, const Window2D& window);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_POOLING_H_
