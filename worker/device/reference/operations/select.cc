#include "common/operations/select.h"

#include <vector>

#include "worker/device/reference/operations/offsets.h"
#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateSelect(const op::Operation& /*operation*/,
                    const Evaluation& evaluation) {
  Array& y = evaluation.output();
  const auto offsets_of = [&](int input) {
    return BroadcastOffsets(evaluation.input(input).shape(), y.shape());
  };
  const std::vector<int64_t> conditions = offsets_of(0);
  const std::vector<int64_t> a = offsets_of(1);
  const std::vector<int64_t> b = offsets_of(2);
  const auto condition = evaluation.input(0).values<uint8_t>();
  WithType(y.data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const T> from_a = evaluation.input(1).values<T>();
    const absl::Span<const T> from_b = evaluation.input(2).values<T>();
    const absl::Span<T> to = y.values<T>();
    for (size_t i = 0; i < to.size(); ++i) {
      to[i] = condition[conditions[i]] != 0 ? from_a[a[i]] : from_b[b[i]];
    }
  });
}

}  // namespace paceline::reference
