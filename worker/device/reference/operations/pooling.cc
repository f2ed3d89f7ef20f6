#include "common/operations/pooling.h"

#include <vector>

#include "worker/device/reference/operations/operations.h"
#include "worker/device/reference/operations/windows.h"

namespace paceline::reference {
namespace {

// For each output element: the element of `x` that is its maximum.
template <typename T>
std::vector<int64_t> FindMaxima(const op::Window2D& window, const Array& x,
                                const Shape& output) {
  constexpr int64_t kNone = -1;
  std::vector<int64_t> maxima(static_cast<size_t>(NumElements(output)), kNone);
  const absl::Span<const T> values = x.values<T>();
  const int64_t channels = output.back();
  const auto is_above = [](T a, T b) { return a > b || (a != a && b == b); };
  ForEachWindowPair(window, x.shape(), output, [&](const WindowPair& pair) {
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t from = pair.input_pixel * channels + c;
      int64_t& maximum = maxima[pair.output_pixel * channels + c];
      if (maximum == kNone || is_above(values[from], values[maximum])) {
        maximum = from;
      }
    }
  });
  for (const int64_t maximum : maxima) {
    CHECK_NE(maximum, kNone) << "a window without an element of the image";
  }
  return maxima;
}

// For each output pixel: the number of pixels of its window that are inside the
// image.
std::vector<int64_t> CountPixels(const op::Window2D& window, const Shape& input,
                                 const Shape& output) {
  std::vector<int64_t> counts(
      static_cast<size_t>(output[0] * output[1] * output[2]));
  ForEachWindowPair(window, input, output, [&](const WindowPair& pair) {
    ++counts[pair.output_pixel];
  });
  return counts;
}

template <typename T>
void Average(const op::Window2D& window, const Array& x, Array& y) {
  const std::vector<int64_t> counts = CountPixels(window, x.shape(), y.shape());
  const int64_t channels = y.shape().back();
  const absl::Span<const T> from = x.values<T>();
  const absl::Span<T> to = y.values<T>();
  ForEachWindowPair(window, x.shape(), y.shape(), [&](const WindowPair& pair) {
    for (int64_t c = 0; c < channels; ++c) {
      to[pair.output_pixel * channels + c] +=
          from[pair.input_pixel * channels + c] /
          static_cast<T>(counts[pair.output_pixel]);
    }
  });
}

}  // namespace

void EvaluateMaxPooling(const op::Operation& operation,
                        const Evaluation& evaluation) {
  const auto& pooling = static_cast<const op::MaxPoolingOperation&>(operation);
  const Array& x = evaluation.input(0);
  Array& y = evaluation.output();
  WithRealType(x.data_type(), [&](auto zero) {
    using T = decltype(zero);
    const std::vector<int64_t> maxima =
        FindMaxima<T>(pooling.window(), x, y.shape());
    for (size_t i = 0; i < maxima.size(); ++i) {
      const T maximum = x.values<T>()[maxima[i]];
      // Comparisons with NaN are false, so NaN stays.
      y.values<T>()[i] = pooling.rectifies() && maximum < 0 ? zero : maximum;
    }
  });
}

void EvaluateAveragePooling(const op::Operation& operation,
                            const Evaluation& evaluation) {
  const auto& window =
      static_cast<const op::AveragePoolingOperation&>(operation).window();
  const Array& x = evaluation.input(0);
  WithRealType(x.data_type(), [&](auto zero) {
    Average<decltype(zero)>(window, x, evaluation.output());
  });
}

void EvaluateMaxPoolingGradient(const op::Operation& operation,
                                const Evaluation& evaluation) {
  const auto& pooling =
      static_cast<const op::MaxPoolingGradientOperation&>(operation);
  const Array& x = evaluation.input(0);
  const Array& y = evaluation.input(1);
  const Array& dy = evaluation.input(2);
  WithRealType(x.data_type(), [&](auto zero) {
    using T = decltype(zero);
    const std::vector<int64_t> maxima =
        FindMaxima<T>(pooling.window(), x, y.shape());
    for (size_t i = 0; i < maxima.size(); ++i) {
      if (pooling.rectifies() && !(y.values<T>()[i] > 0)) continue;
      evaluation.output().values<T>()[maxima[i]] += dy.values<T>()[i];
    }
  });
}

void EvaluateAveragePoolingGradient(const op::Operation& operation,
                                    const Evaluation& evaluation) {
  const auto& window =
      static_cast<const op::AveragePoolingGradientOperation&>(operation)
          .window();
  const Array& dy = evaluation.input(0);
  Array& dx = evaluation.output();
  const std::vector<int64_t> counts =
      CountPixels(window, dx.shape(), dy.shape());
  const int64_t channels = dx.shape().back();
  WithRealType(dx.data_type(), [&](auto zero) {
    using T = decltype(zero);
    ForEachWindowPair(window, dx.shape(), dy.shape(),
                      [&](const WindowPair& pair) {
                        for (int64_t c = 0; c < channels; ++c) {
                          dx.values<T>()[pair.input_pixel * channels + c] +=
                              dy.values<T>()[pair.output_pixel * channels + c] /
                              static_cast<T>(counts[pair.output_pixel]);
                        }
                      });
  });
}

}  // namespace paceline::reference
