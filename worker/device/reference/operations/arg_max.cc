#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateArgMax(const op::Operation& /*operation*/,
                    const Evaluation& evaluation) {
  const Array& x = evaluation.input(0);
  const absl::Span<int32_t> indices = evaluation.output().values<int32_t>();
  const int64_t size = x.shape().back();
  WithNumberType(x.data_type(), [&](auto zero) {
    const auto values = x.values<decltype(zero)>();
    for (int64_t r = 0; r < static_cast<int64_t>(indices.size()); ++r) {
      const auto row = values.subspan(r * size, size);
      int32_t best = 0;
      for (int32_t i = 1; i < size; ++i) {
        // NaN is above nothing, and all else is above NaN.
        if (row[i] > row[best] ||
            (row[best] != row[best] && row[i] == row[i])) {
          best = i;
        }
      }
      indices[r] = best;
    }
  });
}

}  // namespace paceline::reference
