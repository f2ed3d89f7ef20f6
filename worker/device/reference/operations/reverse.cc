#include "common/operations/reverse.h"

#include <algorithm>

#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateReverse(const op::Operation& operation,
                     const Evaluation& evaluation) {
  const int axis = static_cast<const op::ReverseOperation&>(operation).axis();
  const Array& x = evaluation.input(0);
  const absl::Span<const int64_t> shape = x.shape();
  const int64_t blocks = NumElements(shape.subspan(0, axis));
  const int64_t size = shape[axis];
  const int64_t inner = NumElements(shape.subspan(axis + 1));
  WithType(x.data_type(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t block = 0; block < blocks; ++block) {
      for (int64_t i = 0; i < size; ++i) {
        std::copy_n(x.values<T>().begin() + (block * size + i) * inner, inner,
                    evaluation.output().values<T>().begin() +
                        (block * size + size - 1 - i) * inner);
      }
    }
  });
}

}  // namespace paceline::reference
