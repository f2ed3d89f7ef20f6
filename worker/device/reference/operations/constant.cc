#include "common/operations/constant.h"

#include <vector>

#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateConstant(const op::Operation& operation,
                      const Evaluation& evaluation) {
  const std::vector<double>& values =
      static_cast<const op::ConstantOperation&>(operation).values();
  WithType(evaluation.output().data_type(), [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < values.size(); ++i) {
      evaluation.output().values<T>()[i] = ElementOf<T>(values[i]);
    }
  });
}

}  // namespace paceline::reference
