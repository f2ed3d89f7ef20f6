#include "common/operations/pooled_convolution.h"

#include <algorithm>
#include <cstdint>

#include "common/operations/convolution.h"
#include "common/operations/pooling.h"
#include "glog/logging.h"
#include "worker/device/reference/operations/operations.h"
#include "worker/device/reference/operations/windows.h"

namespace paceline::reference {

// Evaluates the operations that this fused one replaces.

void EvaluatePooledConvolution(const op::Operation& operation,
                               const Evaluation& evaluation) {
  const auto& pooled =
      static_cast<const op::PooledConvolutionOperation&>(operation);
  const op::PooledConvolutionParameters& parameters = pooled.parameters();
  Array& y = evaluation.output();
  Array convolved(
      {y.data_type(), parameters.ConvolvedShape(evaluation.input(0).shape(),
                                                y.shape().back())});
  EvaluateConvolution(
      op::ConvolutionOperation(parameters.convolution,
                               {.has_bias = pooled.has_bias()}),
      {evaluation.inputs, absl::MakeSpan(&convolved, 1), evaluation.step});
  const Array* const pooling_input = &convolved;
  EvaluateMaxPooling(
      op::MaxPoolingOperation(parameters.pooling, /*rectifies=*/true),
      {absl::MakeConstSpan(&pooling_input, 1), evaluation.outputs.first(1),
       evaluation.step});
  if (!pooled.has_positions()) return;
  WithRealType(y.data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const T> c = convolved.values<T>();
    const absl::Span<const T> maxima = y.values<T>();
    const absl::Span<int32_t> positions =
        evaluation.outputs[1].values<int32_t>();
    const int64_t filters = y.shape().back();
    std::fill(positions.begin(), positions.end(), -1);
    ForEachWindowPair(parameters.pooling, convolved.shape(), y.shape(),
                      [&](const WindowPair& pair) {
                        for (int64_t f = 0; f < filters; ++f) {
                          const int64_t o = pair.output_pixel * filters + f;
                          if (maxima[o] > 0 && positions[o] < 0 &&
                              c[pair.input_pixel * filters + f] == maxima[o]) {
                            positions[o] = static_cast<int32_t>(pair.element);
                          }
                        }
                      });
  });
}

void EvaluatePooledConvolutionKernelGradient(const op::Operation& operation,
                                             const Evaluation& evaluation) {
  const auto& gradient =
      static_cast<const op::PooledConvolutionKernelGradientOperation&>(
          operation);
  const op::PooledConvolutionParameters& parameters = gradient.parameters();
  const Array& x = evaluation.input(0);
  const Array& dy = evaluation.input(2);
  const int64_t filters = dy.shape().back();
  Array dc({dy.data_type(), parameters.ConvolvedShape(x.shape(), filters)});
  WithRealType(dy.data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const int32_t> positions =
        evaluation.input(1).values<int32_t>();
    ForEachWindowPair(parameters.pooling, dc.shape(), dy.shape(),
                      [&](const WindowPair& pair) {
                        for (int64_t f = 0; f < filters; ++f) {
                          const int64_t o = pair.output_pixel * filters + f;
                          if (positions[o] != pair.element) continue;
                          dc.values<T>()[pair.input_pixel * filters + f] +=
                              dy.values<T>()[o];
                        }
                      });
  });
  const Array* const inputs[] = {&x, &dc};
  EvaluateConvolutionKernelGradient(
      op::ConvolutionKernelGradientOperation(parameters.convolution,
                                             gradient.has_row_sum()),
      {inputs, evaluation.outputs, evaluation.step});
}

}  // namespace paceline::reference
