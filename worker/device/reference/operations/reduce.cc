#include "common/operations/reduce.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "worker/device/reference/operations/offsets.h"
#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateReduce(const op::Operation& operation,
                    const Evaluation& evaluation) {
  const bool is_sum =
      static_cast<const op::ReduceOperation&>(operation).reduction() ==
      op::Reduction::kSum;
  const Array& x = evaluation.input(0);
  Array& y = evaluation.output();
  // Of each element of x, in y, which broadcasts to it.
  const std::vector<int64_t> offsets = BroadcastOffsets(y.shape(), x.shape());
  WithNumberType(x.data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<T> results = y.values<T>();
    if (!is_sum) {
      using Limits = std::numeric_limits<T>;
      std::fill(results.begin(), results.end(),
                Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
    }
    const absl::Span<const T> from = x.values<T>();
    for (size_t i = 0; i < from.size(); ++i) {
      const T value = from[i];
      T& result = results[offsets[i]];
      if (is_sum) {
        result += value;
      } else if (value > result || value != value) {
        // NaN, which nothing is above, stays.
        result = value;
      }
    }
  });
}

}  // namespace paceline::reference
