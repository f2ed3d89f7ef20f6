#include "common/operations/slice.h"

#include <vector>

#include "worker/device/reference/operations/offsets.h"
#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateSlice(const op::Operation& operation,
                   const Evaluation& evaluation) {
  const auto& slice = static_cast<const op::SliceOperation&>(operation);
  const Array& x = evaluation.input(0);
  Array& y = evaluation.output();
  const std::vector<int64_t> strides = Strides(x.shape());
  const std::vector<int64_t> offsets = Offsets(y.shape(), strides);
  int64_t first = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    first += slice.starts()[axis] * strides[axis];
  }
  WithType(x.data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const T> from = x.values<T>();
    const absl::Span<T> to = y.values<T>();
    for (size_t i = 0; i < to.size(); ++i) to[i] = from[first + offsets[i]];
  });
}

}  // namespace paceline::reference
