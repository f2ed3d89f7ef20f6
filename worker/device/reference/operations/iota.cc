#include "common/operations/iota.h"

#include <numeric>

#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateIota(const op::Operation& /*operation*/,
                  const Evaluation& evaluation) {
  WithNumberType(evaluation.output().data_type(), [&](auto zero) {
    const auto values = evaluation.output().values<decltype(zero)>();
    std::iota(values.begin(), values.end(), zero);
  });
}

}  // namespace paceline::reference
