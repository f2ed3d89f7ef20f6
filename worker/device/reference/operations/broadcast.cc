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
    for (int64_t i = 0; i < y.size(); ++i) {
      y.values<T>()[i] = x.values<T>()[offsets[i]];
    }
  });
}

}  // namespace paceline::reference
