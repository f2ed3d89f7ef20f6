// Resizes images, and the gradient of that. Each operation is the transpose of
// the other, so each is the gradient of the other.
#ifndef PACELINE_COMMON_OPERATIONS_RESIZE_H_
#define PACELINE_COMMON_OPERATIONS_RESIZE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

// Pixels are squares: the center of output pixel o is at (o + ½) · input /
// output of the input.
enum class ResizeMode {
  kNearest,   // The pixel in which that lies.
  kBilinear,  // Straight between the two nearest centers; beyond the outermost
              // ones, those.
};

// An output element along an axis: (1 − upper_share) · x[lower] + upper_share ·
// x[upper].
struct ResizedElement {
  int64_t lower = 0;
  int64_t upper = 0;
  double upper_share = 0;
};

// One entry per output element.
std::vector<ResizedElement> ResizedElements(ResizeMode mode, int64_t input,
                                            int64_t output);

// (batch, height, width, channels) to (batch, size[0], size[1], channels).
class ResizeOperation final : public Operation {
 public:
  static constexpr char kName[] = "Resize";

  ResizeOperation(ResizeMode mode, std::array<int64_t, 2> size)
      : mode_(mode), size_(size) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  ResizeMode mode() const { return mode_; }

 private:
  ResizeMode mode_;
  std::array<int64_t, 2> size_;
};

// From the gradient of a Resize's output to that of its input, whose size is
// given.
class ResizeGradientOperation final : public Operation {
 public:
  static constexpr char kName[] = "ResizeGradient";

  ResizeGradientOperation(ResizeMode mode, std::array<int64_t, 2> size)
      : mode_(mode), size_(size) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  ResizeMode mode() const { return mode_; }

 private:
  ResizeMode mode_;
  std::array<int64_t, 2> size_;
};

Tensor Resize(const Tensor& x, ResizeMode mode, std::array<int64_t, 2> size);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_RESIZE_H_
