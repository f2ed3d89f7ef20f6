#include "common/operations/pad.h"

#include <algorithm>
#include <vector>

#include "worker/device/reference/operations/offsets.h"
#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluatePad(const op::Operation& operation, const Evaluation& evaluation) {
  const auto& pad = static_cast<const op::PadOperation&>(operation);
  const Array& x = evaluation.input(0);
  Array& y = evaluation.output();
  const std::vector<int64_t> strides = Strides(y.shape());
  const std::vector<int64_t> offsets = Offsets(x.shape(), strides);
  int64_t first = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    first += pad.padding()[axis].before * strides[axis];
  }
  WithType(x.data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const T> from = x.values<T>();
    const absl::Span<T> to = y.values<T>();
    std::fill(to.begin(), to.end(), ElementOf<T>(pad.value()));
    for (size_t i = 0; i < from.size(); ++i) to[first + offsets[i]] = from[i];
  });
}

}  // namespace paceline::reference
