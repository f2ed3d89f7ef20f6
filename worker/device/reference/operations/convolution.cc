#include "common/operations/convolution.h"

#include <algorithm>
#include <vector>

#include "worker/device/reference/operations/operations.h"
#include "worker/device/reference/operations/windows.h"

namespace paceline::reference {
namespace {

// Calls visit(input element, kernel element, output element) for all triples
// with y += x · k.
template <typename Visit>
void ForEachTriple(const op::ConvolutionParameters& parameters,
                   const Shape& input, const Shape& output, Visit visit) {
  const int64_t channels = input.back();
  const int64_t filters = output.back();
  const int64_t group_channels = channels / parameters.groups;
  const int64_t group_filters = filters / parameters.groups;
  ForEachWindowPair(
      parameters.window, input, output, [&](const WindowPair& pair) {
        for (int64_t c = 0; c < group_channels; ++c) {
          for (int64_t f = 0; f < filters; ++f) {
            const int64_t channel = f / group_filters * group_channels + c;
            visit(pair.input_pixel * channels + channel,
                  (pair.element * group_channels + c) * filters + f,
                  pair.output_pixel * filters + f);
          }
        }
      });
}

// Adds the bias, unless it is null, and rectifies if `rectifies`.
template <typename T>
void Finish(const T* bias, bool rectifies, absl::Span<T> pixels,
            int64_t filters) {
  for (size_t i = 0; i < pixels.size(); ++i) {
    T& y = pixels[i];
    if (bias != nullptr) y += bias[i % filters];
    if (rectifies && y < 0) y = 0;
  }
}

// In double, like Reduce.
template <typename T>
void SumUpPixels(absl::Span<const T> pixels, absl::Span<T> sums) {
  std::vector<double> totals(sums.size());
  for (size_t i = 0; i < pixels.size(); ++i) {
    totals[i % sums.size()] += pixels[i];
  }
  std::copy(totals.begin(), totals.end(), sums.begin());
}

}  // namespace

void EvaluateConvolution(const op::Operation& operation,
                         const Evaluation& evaluation) {
  const auto& convolution =
      static_cast<const op::ConvolutionOperation&>(operation);
  const op::ConvolutionOptions& options = convolution.options();
  Array& output = evaluation.output();
  WithRealType(output.data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const T> x = evaluation.input(0).values<T>();
    const absl::Span<const T> k = evaluation.input(1).values<T>();
    const absl::Span<T> y = output.values<T>();
    ForEachTriple(
        convolution.parameters(), evaluation.input(0).shape(), output.shape(),
        [&](int64_t i, int64_t w, int64_t o) { y[o] += x[i] * k[w]; });
    Finish(options.has_bias ? evaluation.input(2).values<T>().data() : nullptr,
           options.rectifies, y, output.shape().back());
  });
}

void EvaluateConvolutionInputGradient(const op::Operation& operation,
                                      const Evaluation& evaluation) {
  const auto& parameters =
      static_cast<const op::ConvolutionInputGradientOperation&>(operation)
          .parameters();
  Array& input = evaluation.output();
  WithRealType(input.data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const T> y = evaluation.input(0).values<T>();
    const absl::Span<const T> k = evaluation.input(1).values<T>();
    const absl::Span<T> x = input.values<T>();
    ForEachTriple(
        parameters, input.shape(), evaluation.input(0).shape(),
        [&](int64_t i, int64_t w, int64_t o) { x[i] += y[o] * k[w]; });
  });
}

void EvaluateConvolutionKernelGradient(const op::Operation& operation,
                                       const Evaluation& evaluation) {
  const auto& gradient =
      static_cast<const op::ConvolutionKernelGradientOperation&>(operation);
  Array& kernel = evaluation.output();
  WithRealType(kernel.data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const T> x = evaluation.input(0).values<T>();
    const absl::Span<const T> y = evaluation.input(1).values<T>();
    const absl::Span<T> k = kernel.values<T>();
    ForEachTriple(
        gradient.parameters(), evaluation.input(0).shape(),
        evaluation.input(1).shape(),
        [&](int64_t i, int64_t w, int64_t o) { k[w] += x[i] * y[o]; });
    if (gradient.has_row_sum()) {
      SumUpPixels(y, evaluation.outputs[1].values<T>());
    }
  });
}

}  // namespace paceline::reference
