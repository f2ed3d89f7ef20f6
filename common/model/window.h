// The geometry of convolution and pooling windows along one axis.
#ifndef PACELINE_COMMON_MODEL_WINDOW_H_
#define PACELINE_COMMON_MODEL_WINDOW_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/operations/window_axis.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename E>
struct EnumName;

enum class Padding { kValid, kSame, kCausal };
// Those of convolutions of images and of all poolings: valid and same.
absl::Span<const EnumName<Padding>> EnumNames(Padding);

// The padding of convolutions of sequences, in the values of Padding.
enum class SequencePadding {
  kValid = static_cast<int>(Padding::kValid),
  kSame = static_cast<int>(Padding::kSame),
  kCausal = static_cast<int>(Padding::kCausal)
};
absl::Span<const EnumName<SequencePadding>> EnumNames(SequencePadding);

// Maximum size, stride and dilation: far larger than images, far below
// overflow.
inline constexpr int64_t kMaxWindow = 1 << 20;

// A window that slides over the elements of an axis.
struct Window {
  int64_t size = 1;
  int64_t stride = 1;
  // Distance between the window's elements.
  int64_t dilation = 1;
  Padding padding = Padding::kValid;
};

// The positions of a window: output element o reads the inputs o * stride -
// pad_before + k * dilation for k in [0, size).
struct WindowExtent {
  // Number of positions; 0 if the window does not fit.
  int64_t output = 0;
  // Padding at both ends.
  int64_t pad_before = 0;
  int64_t pad_after = 0;
};

// Keras' rule: "valid" pads nothing; "same" has ceil(input / stride) positions,
// with the smaller half of the padding at the start; "causal" pads only the
// start, so that a window ends at the element of its position. `pad_after` is
// negative if the last position ends before the input does.
WindowExtent ExtentOf(const Window& window, int64_t input);

// The same in the form of operations, over images (batch, height, width,
// channels). A single window is that of a sequence: an image of one row.
op::Window2D WindowOver(absl::Span<const Window> windows, const Shape& images);

// The output's height and width for an image (height, width, channels); for a
// single window, the output's steps for a sequence (steps, channels).
// InvalidArgument if `input` is neither, or a window does not fit.
absl::StatusOr<Shape> WindowOutput(absl::Span<const Window> windows,
                                   const Shape& input);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_WINDOW_H_
