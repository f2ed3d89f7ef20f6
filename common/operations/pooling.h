// Pooling of images (batch, height, width, channels), and its gradients.
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

// The largest element of each window; NaN counts as larger than all numbers.
// With `rectifies`, negative outputs become 0, which is the same as a rectifier
// before the pooling.
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

// The mean over the elements of the window that are inside the image.
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

// From the pooling's input, its output, and the output's gradient to the
// input's gradient. The first of equal maxima of a window gets the whole
// gradient; in a window with NaN, any one element does. With `rectifies`, the
// result is the gradient before the rectifier: where the output is not above 0,
// no element gets a gradient.
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

// From the gradient of the pooling's output to that of its input.
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
