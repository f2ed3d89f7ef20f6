#include "common/operations/concatenate.h"

#include <algorithm>

#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateConcatenate(const op::Operation& operation,
                         const Evaluation& evaluation) {
  const int axis =
      static_cast<const op::ConcatenateOperation&>(operation).axis();
  Array& y = evaluation.output();
  const absl::Span<const int64_t> shape = y.shape();
  const int64_t blocks = NumElements(shape.subspan(0, axis));
  const int64_t inner = NumElements(shape.subspan(axis + 1));
  WithType(y.data_type(), [&](auto zero) {
    using T = decltype(zero);
    int64_t start = 0;
    for (const Array* x : evaluation.inputs) {
      const int64_t size = x->shape()[axis] * inner;
      for (int64_t block = 0; block < blocks; ++block) {
        std::copy_n(
            x->values<T>().begin() + block * size, size,
            y.values<T>().begin() + block * shape[axis] * inner + start);
      }
      start += size;
    }
  });
}

}  // namespace paceline::reference
