#include "common/operations/transpose.h"

#include <vector>

#include "worker/device/reference/operations/offsets.h"
#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateTranspose(const op::Operation& operation,
                       const Evaluation& evaluation) {
  const auto& transpose = static_cast<const op::TransposeOperation&>(operation);
  const Array& x = evaluation.input(0);
  Array& y = evaluation.output();
  const std::vector<int64_t> strides = Strides(x.shape());
  std::vector<int64_t> turned;
  for (const int axis : transpose.permutation()) {
    turned.push_back(strides[axis]);
  }
  const std::vector<int64_t> offsets = Offsets(y.shape(), turned);
  WithType(x.data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const T> from = x.values<T>();
    const absl::Span<T> to = y.values<T>();
    for (size_t i = 0; i < to.size(); ++i) to[i] = from[offsets[i]];
  });
}

}  // namespace paceline::reference
