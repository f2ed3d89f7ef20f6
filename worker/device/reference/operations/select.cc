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
    for (int64_t i = 0; i < y.size(); ++i) {
      y.values<T>()[i] = condition[conditions[i]] != 0
                             ? evaluation.input(1).values<T>()[a[i]]
                             : evaluation.input(2).values<T>()[b[i]];
    }
  });
}

}  // namespace paceline::reference
