#include "common/operations/softmax.h"

#include <algorithm>
#include <cmath>

#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {
namespace {

// Calls compute(row of the input, row of the output, largest element, Σ exp(x −
// largest)) for each row.
template <typename Compute>
void ForEachRow(const Evaluation& evaluation, Compute compute) {
  const Array& x = evaluation.input(0);
  const int64_t size = x.shape().back();
  WithRealType(x.data_type(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t start = 0; start < x.size(); start += size) {
      const absl::Span<const T> row = x.values<T>().subspan(start, size);
      const T largest = *std::max_element(row.begin(), row.end());
      T sum = 0;
      for (const T each : row) sum += std::exp(each - largest);
      compute(row, evaluation.output().values<T>().subspan(start, size),
              largest, sum);
    }
  });
}

}  // namespace

void EvaluateSoftmax(const op::Operation& /*operation*/,
                     const Evaluation& evaluation) {
  ForEachRow(evaluation, [](auto x, auto y, auto largest, auto sum) {
    for (size_t i = 0; i < x.size(); ++i) {
      y[i] = std::exp(x[i] - largest) / sum;
    }
  });
}

void EvaluateLogSoftmax(const op::Operation& /*operation*/,
                        const Evaluation& evaluation) {
  ForEachRow(evaluation, [](auto x, auto y, auto largest, auto sum) {
    for (size_t i = 0; i < x.size(); ++i) {
      y[i] = x[i] - largest - std::log(sum);
    }
  });
}

}  // namespace paceline::reference
