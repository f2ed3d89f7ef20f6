#include <algorithm>

#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateCopy(const op::Operation& /*operation*/,
                  const Evaluation& evaluation) {
  const Array& x = evaluation.input(0);
  WithType(x.data_type(), [&](auto zero) {
    using T = decltype(zero);
    std::copy(x.values<T>().begin(), x.values<T>().end(),
              evaluation.output().values<T>().begin());
  });
}

}  // namespace paceline::reference
