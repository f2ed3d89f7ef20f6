#include "worker/device/arg_max.h"

#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateArgMax(const op::Operation& /*operation*/,
                    const Evaluation& evaluation) {
  const Array& x = evaluation.input(0);
  const absl::Span<int32_t> indices = evaluation.output().values<int32_t>();
  const int64_t size = x.shape().back();
  WithNumberType(x.data_type(), [&](auto zero) {
    const auto values = x.values<decltype(zero)>();
    for (size_t row = 0; row < indices.size(); ++row) {
      indices[row] = ArgMaxOf(values.data() + row * size, size);
    }
  });
}

}  // namespace paceline::reference
