#include "common/operations/broadcast.h"

#include <vector>

#include "worker/device/reference/operations/offsets.h"
#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateBroadcast(const op::Operation& /*operation*/,
                       const Evaluation& evaluation) {
  const Array& x = evaluation.input(0);
  Array& y = evaluation.output();
  const std::vector<int64_t> offsets = BroadcastOffsets(x.shape(), y.shape());
  WithType(x.data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const T> from = x.values<T>();
    const absl::Span<T> to = y.values<T>();
    for (size_t i = 0; i < to.size(); ++i) to[i] = from[offsets[i]];
  });
}

}  // namespace paceline::reference
