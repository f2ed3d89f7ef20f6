#include "common/operations/softmax.h"

#include <algorithm>
#include <cmath>

#include "worker/device/reference/operations/operations.h"
#include "worker/device/row_geometry.h"

namespace paceline::reference {
namespace {

RowGeometry RowsOf(const op::Operation& operation,
                   const Evaluation& evaluation) {
  return RowsAlong(evaluation.output().shape(),
                   static_cast<const op::RowOperation&>(operation).axis());
}

// Calls compute(index of the element, x − largest, Σ exp(x − largest)) for each
// element of each row.
template <typename T, typename Compute>
void ForEachElement(const RowGeometry& rows, absl::Span<const T> x,
                    Compute compute) {
  const auto count = static_cast<int64_t>(x.size());
  for (int64_t row = 0; row < count / rows.size; ++row) {
    T largest = x[rows.Index(row, 0)];
    for (int64_t i = 1; i < rows.size; ++i) {
      largest = std::max(largest, x[rows.Index(row, i)]);
    }
    T sum = 0;
    for (int64_t i = 0; i < rows.size; ++i) {
      sum += std::exp(x[rows.Index(row, i)] - largest);
    }
    for (int64_t i = 0; i < rows.size; ++i) {
      const int64_t at = rows.Index(row, i);
      compute(at, x[at] - largest, sum);
    }
  }
}

// Calls compute(Σ term(index), index) for each element of each row.
template <typename T, typename Term, typename Compute>
void ForEachOfSum(const RowGeometry& rows, int64_t count, Term term,
                  Compute compute) {
  for (int64_t row = 0; row < count / rows.size; ++row) {
    T sum = 0;
    for (int64_t i = 0; i < rows.size; ++i) sum += term(rows.Index(row, i));
    for (int64_t i = 0; i < rows.size; ++i) compute(sum, rows.Index(row, i));
  }
}

}  // namespace

void EvaluateSoftmax(const op::Operation& operation,
                     const Evaluation& evaluation) {
  WithRealType(evaluation.output().data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<T> y = evaluation.output().values<T>();
    ForEachElement<T>(RowsOf(operation, evaluation),
                      evaluation.input(0).values<T>(),
                      [&](int64_t at, T below_largest, T sum) {
                        y[at] = std::exp(below_largest) / sum;
                      });
  });
}

void EvaluateLogSoftmax(const op::Operation& operation,
                        const Evaluation& evaluation) {
  WithRealType(evaluation.output().data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<T> y = evaluation.output().values<T>();
    ForEachElement<T>(RowsOf(operation, evaluation),
                      evaluation.input(0).values<T>(),
                      [&](int64_t at, T below_largest, T sum) {
                        y[at] = below_largest - std::log(sum);
                      });
  });
}

void EvaluateSoftmaxGradient(const op::Operation& operation,
                             const Evaluation& evaluation) {
  WithRealType(evaluation.output().data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const T> y = evaluation.input(0).values<T>();
    const absl::Span<const T> dy = evaluation.input(1).values<T>();
    const absl::Span<T> dx = evaluation.output().values<T>();
    ForEachOfSum<T>(
        RowsOf(operation, evaluation), static_cast<int64_t>(y.size()),
        [&](int64_t at) { return y[at] * dy[at]; },
        [&](T sum, int64_t at) { dx[at] = y[at] * (dy[at] - sum); });
  });
}

void EvaluateLogSoftmaxGradient(const op::Operation& operation,
                                const Evaluation& evaluation) {
  WithRealType(evaluation.output().data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const T> y = evaluation.input(0).values<T>();
    const absl::Span<const T> dy = evaluation.input(1).values<T>();
    const absl::Span<T> dx = evaluation.output().values<T>();
    ForEachOfSum<T>(
        RowsOf(operation, evaluation), static_cast<int64_t>(y.size()),
        [&](int64_t at) { return dy[at]; },
        [&](T sum, int64_t at) { dx[at] = dy[at] - std::exp(y[at]) * sum; });
  });
}

}  // namespace paceline::reference
