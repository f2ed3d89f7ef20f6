#include "worker/device/cpu/kernels/pooled_convolution.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline::cpu {

void PrintTo(const PooledConvolution& g, std::ostream* out) {
  *out << g.height << "x" << g.width << "x" << g.channels << ", kernel "
       << g.kernel_height << "x" << g.kernel_width << ", " << g.filters
       << " filters, padded by " << g.pad_top << " and " << g.pad_left;
}

namespace {

using ::testing::Each;
using ::testing::Eq;
using ::testing::IsNan;

constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kBatch = 4;

// Small whole numbers, so that sums are exact in any order and many elements
// are equal.
std::vector<float> WholeNumbers(int64_t count, int salt) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>((i * 7919 + salt * 611) % 2003 % 7 - 3);
  }
  return values;
}

// With padding, as many elements of the convolution as pixels of the image.
PooledConvolution MakeConvolution(int64_t channels, int64_t filters,
                                  int64_t kernel_height, int64_t kernel_width,
                                  bool pads) {
  PooledConvolution result;
  result.height = 9;
  result.width = 12;
  result.channels = channels;
  result.filters = filters;
  result.kernel_height = kernel_height;
  result.kernel_width = kernel_width;
  result.pad_top = pads ? (kernel_height - 1) / 2 : 0;
  result.pad_left = pads ? (kernel_width - 1) / 2 : 0;
  result.rows = (pads ? result.height : result.height - kernel_height + 1) / 2;
  result.columns = (pads ? result.width : result.width - kernel_width + 1) / 2;
  return result;
}

// What the kernels work on, and what they make of it.
struct Numbers {
  explicit Numbers(const PooledConvolution& g)
      : image_outputs(g.output_size()),
        input(WholeNumbers(kBatch * g.input_size(), 1)),
        kernel(WholeNumbers(g.patch_size() * g.filters, 2)),
        bias(WholeNumbers(g.filters, 3)),
        output(kBatch * image_outputs, kUntouched),
        positions(kBatch * image_outputs, kUntouched),
        output_gradient(WholeNumbers(kBatch * image_outputs, 4)),
        // Gradients are added to what is there.
        kernel_gradient(WholeNumbers(static_cast<int64_t>(kernel.size()), 5)),
        bias_gradient(WholeNumbers(g.filters, 6)) {}

  static constexpr int kUntouched = 77777;

  int64_t image_outputs;
  std::vector<float> input;
  std::vector<float> kernel;
  std::vector<float> bias;
  std::vector<float> output;
  std::vector<int32_t> positions;
  std::vector<float> output_gradient;
  std::vector<float> kernel_gradient;
  std::vector<float> bias_gradient;
};

void Forward(const PooledConvolution& g, int64_t begin, int64_t end,
             Numbers& n) {
  PooledConvolutionForward(g, begin, end, n.input.data(), n.kernel.data(),
                           n.bias.data(), n.output.data(), n.positions.data());
}

void Gradient(const PooledConvolution& g, int64_t begin, int64_t end,
              Numbers& n) {
  PooledConvolutionKernelGradient(g, begin, end, n.input.data(),
                                  n.positions.data(), n.output_gradient.data(),
                                  n.kernel_gradient.data(),
                                  n.bias_gradient.data());
}

// Calls visit(element of the input, element of the kernel) for all that an
// element of the convolution comes from.
template <typename Visit>
void ForEachProduct(const PooledConvolution& g, int64_t image, int64_t row,
                    int64_t column, int64_t filter, Visit visit) {
  for (int64_t ky = 0; ky < g.kernel_height; ++ky) {
    const int64_t y = row + ky - g.pad_top;
    for (int64_t kx = 0; kx < g.kernel_width; ++kx) {
      const int64_t x = column + kx - g.pad_left;
      if (y < 0 || y >= g.height || x < 0 || x >= g.width) continue;
      for (int64_t c = 0; c < g.channels; ++c) {
        visit(
            ((image * g.height + y) * g.width + x) * g.channels + c,
            ((ky * g.kernel_width + kx) * g.channels + c) * g.filters + filter);
      }
    }
  }
}

// Calls visit(index of the output, image, first row and column of the
// convolution, filter) for all outputs of the images.
template <typename Visit>
void ForEachOutput(const PooledConvolution& g, int64_t begin, int64_t end,
                   Visit visit) {
  int64_t index = begin * g.output_size();
  for (int64_t image = begin; image < end; ++image) {
    for (int64_t row = 0; row < g.rows; ++row) {
      for (int64_t column = 0; column < g.columns; ++column) {
        for (int64_t filter = 0; filter < g.filters; ++filter) {
          visit(index++, image, 2 * row, 2 * column, filter);
        }
      }
    }
  }
}

void PlainForward(const PooledConvolution& g, int64_t begin, int64_t end,
                  Numbers& n) {
  ForEachOutput(g, begin, end,
                [&](int64_t index, int64_t image, int64_t row, int64_t column,
                    int64_t filter) {
                  n.output[index] = 0;
                  n.positions[index] = -1;
                  for (int64_t p = 0; p < 4; ++p) {
                    float sum = n.bias[filter];
                    ForEachProduct(g, image, row + p / 2, column + p % 2,
                                   filter, [&](int64_t in, int64_t k) {
                                     sum += n.input[in] * n.kernel[k];
                                   });
                    if (sum <= n.output[index]) continue;
                    n.output[index] = sum;
                    n.positions[index] = static_cast<int32_t>(p);
                  }
                });
}

void PlainGradient(const PooledConvolution& g, int64_t begin, int64_t end,
                   Numbers& n) {
  ForEachOutput(g, begin, end,
                [&](int64_t index, int64_t image, int64_t row, int64_t column,
                    int64_t filter) {
                  const int32_t p = n.positions[index];
                  if (p < 0) return;
                  const float gradient = n.output_gradient[index];
                  n.bias_gradient[filter] += gradient;
                  ForEachProduct(g, image, row + p / 2, column + p % 2, filter,
                                 [&](int64_t in, int64_t k) {
                                   n.kernel_gradient[k] +=
                                       n.input[in] * gradient;
                                 });
                });
}

struct Size {
  int64_t height;
  int64_t width;
};

// The filters.
class PooledConvolutionTest : public ::testing::TestWithParam<int64_t> {
 protected:
  template <typename Check>
  static void ForEachConvolution(Check check) {
    for (const int64_t channels : {1, 2, 3}) {
      for (const Size& kernel : {Size{1, 1}, {3, 3}, {2, 3}, {5, 5}}) {
        for (const bool pads : {false, true}) {
          const PooledConvolution g = MakeConvolution(
              channels, GetParam(), kernel.height, kernel.width, pads);
          SCOPED_TRACE(::testing::PrintToString(g));
          check(g);
        }
      }
    }
  }
};

TEST_P(PooledConvolutionTest, DoesWhatPlainLoopsDo) {
  ForEachConvolution([](const PooledConvolution& g) {
    Numbers own(g), plain(g);
    Forward(g, 1, 3, own);
    PlainForward(g, 1, 3, plain);
    // Also: other images' outputs stay as they are.
    EXPECT_EQ(own.output, plain.output);
    EXPECT_EQ(own.positions, plain.positions);

    Gradient(g, 1, 3, own);
    PlainGradient(g, 1, 3, plain);
    EXPECT_EQ(own.kernel_gradient, plain.kernel_gradient);
    EXPECT_EQ(own.bias_gradient, plain.bias_gradient);
  });
}

TEST_P(PooledConvolutionTest, NeedsNeitherBiasNorPositions) {
  ForEachConvolution([](const PooledConvolution& g) {
    Numbers own(g), plain(g);
    std::fill(plain.bias.begin(), plain.bias.end(), 0.0f);
    PlainForward(g, 0, kBatch, plain);
    PooledConvolutionForward(g, 0, kBatch, own.input.data(), own.kernel.data(),
                             nullptr, own.output.data(), nullptr);
    EXPECT_EQ(own.output, plain.output);

    PlainGradient(g, 0, kBatch, plain);
    PooledConvolutionKernelGradient(
        g, 0, kBatch, own.input.data(), plain.positions.data(),
        own.output_gradient.data(), own.kernel_gradient.data(),
        own.bias_gradient.data());
    EXPECT_EQ(own.kernel_gradient, plain.kernel_gradient);
  });
}

TEST_P(PooledConvolutionTest, TakesTheFirstOfEqualElements) {
  ForEachConvolution([](PooledConvolution g) {
    if (g.pad_top > 0 || g.pad_left > 0) return;
    Numbers n(g);
    std::fill(n.input.begin(), n.input.end(), 0.0f);
    std::fill(n.bias.begin(), n.bias.end(), 2.0f);
    Forward(g, 0, kBatch, n);
    EXPECT_THAT(n.output, Each(Eq(2)));
    EXPECT_THAT(n.positions, Each(Eq(0)));
  });
}

TEST_P(PooledConvolutionTest, RectifiedElementsGetNoGradient) {
  ForEachConvolution([](const PooledConvolution& g) {
    // Zero itself as well.
    for (const float bias : {-1000.0f, 0.0f}) {
      Numbers n(g);
      if (bias == 0) std::fill(n.input.begin(), n.input.end(), 0.0f);
      std::fill(n.bias.begin(), n.bias.end(), bias);
      Forward(g, 0, kBatch, n);
      EXPECT_THAT(n.output, Each(Eq(0)));
      EXPECT_THAT(n.positions, Each(Eq(-1)));

      Gradient(g, 0, kBatch, n);
      const Numbers untouched(g);
      EXPECT_EQ(n.kernel_gradient, untouched.kernel_gradient);
      EXPECT_EQ(n.bias_gradient, untouched.bias_gradient);
    }
  });
}

TEST_P(PooledConvolutionTest, NanStays) {
  ForEachConvolution([](const PooledConvolution& g) {
    // Among the last and the first elements of windows.
    for (const int64_t pixel : {g.width * 3 + 3, g.width * 4 + 4}) {
      Numbers n(g), clean(g);
      n.input[pixel * g.channels] = kNotANumber;
      Forward(g, 0, kBatch, n);
      PlainForward(g, 0, kBatch, clean);
      int64_t nan_count = 0;
      ForEachOutput(g, 0, kBatch,
                    [&](int64_t index, int64_t image, int64_t row,
                        int64_t column, int64_t filter) {
                      bool has_nan = false;
                      for (int64_t p = 0; p < 4; ++p) {
                        ForEachProduct(g, image, row + p / 2, column + p % 2,
                                       filter, [&](int64_t in, int64_t /*k*/) {
                                         has_nan |= std::isnan(n.input[in]);
                                       });
                      }
                      nan_count += has_nan ? 1 : 0;
                      if (has_nan) {
                        EXPECT_THAT(n.output[index], IsNan());
                        EXPECT_EQ(n.positions[index], -1);
                      } else {
                        EXPECT_EQ(n.output[index], clean.output[index]);
                        EXPECT_EQ(n.positions[index], clean.positions[index]);
                      }
                    });
      EXPECT_GT(nan_count, 0);
    }
  });
}

TEST_P(PooledConvolutionTest, RepeatsWithTheSameBits) {
  ForEachConvolution([](const PooledConvolution& g) {
    Numbers a(g);
    for (float& value : a.input) value *= 0.1f;
    for (float& value : a.output_gradient) value *= 0.3f;
    Numbers b = a;
    for (Numbers* n : {&a, &b}) {
      Forward(g, 0, kBatch, *n);
      Gradient(g, 0, kBatch, *n);
    }
    EXPECT_EQ(a.output, b.output);
    EXPECT_EQ(a.kernel_gradient, b.kernel_gradient);
    EXPECT_EQ(a.bias_gradient, b.bias_gradient);
  });
}

TEST_P(PooledConvolutionTest, IsWithinRoundingOfDoubles) {
  ForEachConvolution([](const PooledConvolution& g) {
    Numbers n(g);
    for (float& value : n.input) value *= 0.1f;
    for (float& value : n.kernel) value *= 0.7f;
    Forward(g, 0, kBatch, n);
    ForEachOutput(g, 0, kBatch,
                  [&](int64_t index, int64_t image, int64_t row, int64_t column,
                      int64_t filter) {
                    double largest = 0, magnitude = 0;
                    for (int64_t p = 0; p < 4; ++p) {
                      double sum = n.bias[filter], absolute = std::abs(sum);
                      ForEachProduct(g, image, row + p / 2, column + p % 2,
                                     filter, [&](int64_t in, int64_t k) {
                                       const double product =
                                           double{n.input[in]} * n.kernel[k];
                                       sum += product;
                                       absolute += std::abs(product);
                                     });
                      largest = std::max(largest, sum);
                      magnitude = std::max(magnitude, absolute);
                    }
                    EXPECT_NEAR(n.output[index], largest, 1e-6 * magnitude);
                  });
  });
}

INSTANTIATE_TEST_SUITE_P(Filters, PooledConvolutionTest,
                         ::testing::Values(16, 48));

}  // namespace
}  // namespace paceline::cpu
