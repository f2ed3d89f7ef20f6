#include "common/operations/reduce.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "worker/device/reference/operations/offsets.h"
#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

namespace {

// In double, so that long sums keep their precision.
template <typename T>
void AddUp(absl::Span<const T> from, const std::vector<int64_t>& offsets,
           absl::Span<T> to) {
  std::vector<double> sums(to.size());
  for (size_t i = 0; i < from.size(); ++i) sums[offsets[i]] += from[i];
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(sums[i]);
}

template <typename T>
void TakeMaxima(absl::Span<const T> from, const std::vector<int64_t>& offsets,
                absl::Span<T> to) {
  using Limits = std::numeric_limits<T>;
  std::fill(to.begin(), to.end(),
            Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
  for (size_t i = 0; i < from.size(); ++i) {
    T& maximum = to[offsets[i]];
    // NaN stays, since no comparison with it is true.
    if (from[i] > maximum || from[i] != from[i]) maximum = from[i];
  }
}

}  // namespace

void EvaluateReduce(const op::Operation& operation,
                    const Evaluation& evaluation) {
  const bool is_sum =
      static_cast<const op::ReduceOperation&>(operation).reduction() ==
      op::Reduction::kSum;
  const Array& x = evaluation.input(0);
  Array& y = evaluation.output();
  // For each element of x: the index in y, which is broadcast to x.
  const std::vector<int64_t> offsets = BroadcastOffsets(y.shape(), x.shape());
  WithNumberType(x.data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const T> from = x.values<T>();
    const absl::Span<T> to = y.values<T>();
    is_sum ? AddUp(from, offsets, to) : TakeMaxima(from, offsets, to);
  });
}

}  // namespace paceline::reference
