// Which pixels windows read, and which windows a pixel.
#include "worker/device/cuda/kernels/image_windows.h"

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline::cuda {
namespace {

using ::testing::ElementsAreArray;

// Of all that is small: padding before and behind, steps, distances, and
// windows that leave pixels out.
std::vector<AxisWindow> SmallAxes() {
  std::vector<AxisWindow> axes;
  for (int64_t size = 1; size <= 3; ++size) {
    for (int64_t stride = 1; stride <= 3; ++stride) {
      for (int64_t dilation = 1; dilation <= 3; ++dilation) {
        for (int64_t pad = 0; pad <= 3; ++pad) {
          for (int64_t output = 1; output <= 4; ++output) {
            axes.push_back({.input = 5,
                            .output = output,
                            .size = size,
                            .stride = stride,
                            .dilation = dilation,
                            .pad_before = pad});
          }
        }
      }
    }
  }
  return axes;
}

TEST(AxisWindowTest, CountsWhatIsNoPadding) {
  for (const AxisWindow& axis : SmallAxes()) {
    for (int64_t o = 0; o < axis.output; ++o) {
      int64_t count = 0;
      for (int64_t k = 0; k < axis.size; ++k) {
        count += axis.InputOf(o, k) >= 0 ? 1 : 0;
      }
      ASSERT_EQ(axis.CoveredCount(o), count)
          << "size " << axis.size << " stride " << axis.stride << " dilation "
          << axis.dilation << " padding " << axis.pad_before << " window " << o;
    }
  }
}

using Visits = std::vector<std::tuple<int64_t, int64_t, int64_t>>;

// In the order of the elements, so that sums keep their bits.
TEST(ImageWindowsTest, APixelFindsTheWindowsThatReadIt) {
  const AxisWindow other = {
      .input = 4, .output = 3, .size = 3, .stride = 2, .pad_before = 1};
  for (const AxisWindow& axis : SmallAxes()) {
    for (const auto& [y, x] :
         {std::pair(axis, other), std::pair(other, axis)}) {
      const ImageWindows windows = {y, x, /*channels=*/1};
      for (int64_t pixel = 0; pixel < y.input * x.input; ++pixel) {
        Visits expected;
        for (int64_t k = 0; k < y.size * x.size; ++k) {
          for (int64_t o = 0; o < y.output * x.output; ++o) {
            if (y.InputOf(o / x.output, k / x.size) == pixel / x.input &&
                x.InputOf(o % x.output, k % x.size) == pixel % x.input) {
              expected.emplace_back(k, o / x.output, o % x.output);
            }
          }
        }
        Visits visits;
        windows.ForEachOutput(pixel / x.input, pixel % x.input,
                              [&](int64_t k, int64_t oy, int64_t ox) {
                                visits.emplace_back(k, oy, ox);
                              });
        ASSERT_THAT(visits, ElementsAreArray(expected));
      }
    }
  }
}

TEST(ImageWindowsTest, AWindowReadsItsPixelsInOrder) {
  const ImageWindows windows = {
      {.input = 3, .output = 2, .size = 3, .stride = 2, .pad_before = 1},
      {.input = 4, .output = 2, .size = 2, .stride = 3},
      /*channels=*/1};
  Visits visits;
  windows.ForEachInput(0, 1, [&](int64_t k, int64_t iy, int64_t ix) {
    visits.emplace_back(k, iy, ix);
  });
  // The first row and the last column are padding.
  EXPECT_EQ(visits, (Visits{{2, 0, 3}, {4, 1, 3}}));
}

}  // namespace
}  // namespace paceline::cuda
