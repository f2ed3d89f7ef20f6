#include "common/operations/iota.h"

#include <numeric>

#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateIota(const op::Operation& /*operation*/,
                  const Evaluation& evaluation) {
  const absl::Span<int32_t> values = evaluation.output().values<int32_t>();
  std::iota(values.begin(), values.end(), 0);
}

}  // namespace paceline::reference
