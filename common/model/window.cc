#include "common/model/window.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "common/config/codec.h"
#include "common/model/shape_rule.h"

namespace paceline {

absl::Span<const EnumName<Padding>> EnumNames(Padding) {
  static constexpr EnumName<Padding> kNames[] = {{Padding::kValid, "valid"},
                                                 {Padding::kSame, "same"}};
  return kNames;
}

absl::Span<const EnumName<SequencePadding>> EnumNames(SequencePadding) {
  static constexpr EnumName<SequencePadding> kNames[] = {
      {SequencePadding::kValid, "valid"},
      {SequencePadding::kSame, "same"},
      {SequencePadding::kCausal, "causal"}};
  return kNames;
}

WindowExtent ExtentOf(const Window& window, int64_t input) {
  const int64_t reach = (window.size - 1) * window.dilation + 1;
  WindowExtent extent;
  if (window.padding != Padding::kValid) {
    extent.output = (input + window.stride - 1) / window.stride;
  } else if (input >= reach) {
    extent.output = (input - reach) / window.stride + 1;
  } else {
    return extent;
  }
  const int64_t beyond = (extent.output - 1) * window.stride + reach - input;
  if (window.padding == Padding::kSame) {
    extent.pad_before = std::max<int64_t>(beyond, 0) / 2;
  } else if (window.padding == Padding::kCausal) {
    extent.pad_before = reach - 1;
  }
  extent.pad_after = beyond - extent.pad_before;
  return extent;
}

absl::StatusOr<Shape> WindowOutput(absl::Span<const Window> windows,
                                   const Shape& input) {
  const bool is_image = windows.size() == 2;
  RETURN_IF_ERROR(is_image ? CheckImage(input) : CheckSequence(input));
  Shape output;
  for (size_t axis = 0; axis < windows.size(); ++axis) {
    const Window& window = windows[axis];
    output.push_back(ExtentOf(window, input[axis]).output);
    if (output.back() > 0) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "a window of %d with dilation %d does not fit into the %s of input "
        "shape %s",
        window.size, window.dilation,
        !is_image   ? "steps"
        : axis == 0 ? "height"
                    : "width",
        ShapeToString(input)));
  }
  return output;
}

op::Window2D WindowOver(absl::Span<const Window> windows, const Shape& images) {
  op::Window2D over;
  // A row of an image has a window of one pixel along the height.
  const size_t first = over.size() - windows.size();
  for (size_t axis = first; axis < over.size(); ++axis) {
    const Window& window = windows[axis - first];
    const WindowExtent extent = ExtentOf(window, images[1 + axis]);
    over[axis] = {window.size, window.stride, window.dilation,
                  extent.pad_before, extent.pad_after};
  }
  return over;
}

}  // namespace paceline
