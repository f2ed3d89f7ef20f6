#include "common/operations/channel_normalization.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {
namespace {

using ChannelOptions = op::ChannelNormalizationOptions;

// Per channel: y = (x − mean) · scale + offset before the clamp, and x̂ = (x −
// mean) · factor.
template <typename T>
struct ChannelLine {
  T mean;
  T factor;
  T scale;
  T offset;
};

const ChannelOptions& ChannelOptionsOf(const op::Operation& operation) {
  return static_cast<const op::ChannelOperation&>(operation).options();
}

std::vector<double> DoublesOf(const Array& array) {
  std::vector<double> doubles;
  WithRealType(array.data_type(), [&](auto zero) {
    const auto values = array.values<decltype(zero)>();
    doubles.assign(values.begin(), values.end());
  });
  return doubles;
}

template <typename T>
std::vector<ChannelLine<T>> LinesOf(const ChannelOptions& options,
                                    const Evaluation& evaluation) {
  const std::vector<double> means =
      DoublesOf(evaluation.input(ChannelOptions::kMean));
  const std::vector<double> variances =
      DoublesOf(evaluation.input(ChannelOptions::kVariance));
  std::vector<ChannelLine<T>> lines;
  for (size_t c = 0; c < means.size(); ++c) {
    const auto variable = [&](int input) {
      return evaluation.input(input).values<T>()[c];
    };
    // Written such that NaN stays NaN.
    const double variance = variances[c] < 0 ? 0 : variances[c];
    const T factor = static_cast<T>(1 / std::sqrt(variance + options.epsilon));
    const T gamma = options.has_gamma ? variable(ChannelOptions::kGamma) : T{1};
    const T beta = options.has_beta ? variable(options.beta_input()) : T{0};
    lines.push_back({static_cast<T>(means[c]), factor, factor * gamma, beta});
  }
  return lines;
}

// Calls compute(channel, its line, index, x − mean, gradient with respect to
// the value before the clamp) for each element.
template <typename T, typename Compute>
void ForEachGradient(const ChannelOptions& options,
                     const Evaluation& evaluation, Compute compute) {
  const absl::Span<const T> x =
      evaluation.input(ChannelOptions::kX).values<T>();
  const absl::Span<const T> dy =
      evaluation.input(options.next_input()).values<T>();
  const std::vector<ChannelLine<T>> lines = LinesOf<T>(options, evaluation);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t c = i % lines.size();
    const ChannelLine<T>& line = lines[c];
    const T difference = x[i] - line.mean;
    compute(
        c, line, i, difference,
        Unclamped(options.clamp, difference * line.scale + line.offset, dy[i]));
  }
}

}  // namespace

void EvaluateChannelNormalization(const op::Operation& operation,
                                  const Evaluation& evaluation) {
  const ChannelOptions& options = ChannelOptionsOf(operation);
  WithRealType(evaluation.output().data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const T> x =
        evaluation.input(ChannelOptions::kX).values<T>();
    const absl::Span<T> y = evaluation.output().values<T>();
    const std::vector<ChannelLine<T>> lines = LinesOf<T>(options, evaluation);
    for (size_t i = 0; i < x.size(); ++i) {
      const ChannelLine<T>& line = lines[i % lines.size()];
      y[i] =
          Clamped(options.clamp, (x[i] - line.mean) * line.scale + line.offset);
    }
  });
}

void EvaluateChannelGradientSums(const op::Operation& operation,
                                 const Evaluation& evaluation) {
  const absl::Span<double> sums = evaluation.outputs[0].values<double>();
  const absl::Span<double> products = evaluation.outputs[1].values<double>();
  WithRealType(evaluation.input(ChannelOptions::kX).data_type(),
               [&](auto zero) {
                 using T = decltype(zero);
                 ForEachGradient<T>(ChannelOptionsOf(operation), evaluation,
                                    [&](size_t c, const ChannelLine<T>& line,
                                        size_t /*i*/, T difference, T g) {
                                      sums[c] += g;
                                      products[c] +=
                                          double{g} * difference * line.factor;
                                    });
               });
}

void EvaluateChannelNormalizationGradient(const op::Operation& operation,
                                          const Evaluation& evaluation) {
  const ChannelOptions& options = ChannelOptionsOf(operation);
  // The inputs after dy: the count, Σ g and Σ g · x̂.
  const auto more = [&](int index) {
    return evaluation.input(options.next_input() + 1 + index).values<double>();
  };
  WithRealType(evaluation.output().data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<T> dx = evaluation.output().values<T>();
    ForEachGradient<T>(
        options, evaluation,
        [&](size_t c, const ChannelLine<T>& line, size_t i, T difference, T g) {
          double rest = g;
          if (options.is_of_batch()) {
            const double count = more(0)[0];
            const double slope = more(2)[c] / count * line.factor;
            rest -= more(1)[c] / count + difference * slope;
          }
          dx[i] = static_cast<T>(line.scale * rest);
        });
  });
}

}  // namespace paceline::reference
