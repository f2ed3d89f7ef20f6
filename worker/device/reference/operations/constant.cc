#include "common/operations/constant.h"

#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateConstant(const op::Operation& operation,
                      const Evaluation& evaluation) {
  const double value =
      static_cast<const op::ConstantOperation&>(operation).value();
  WithType(evaluation.output().data_type(), [&](auto zero) {
    using T = decltype(zero);
    evaluation.output().values<T>()[0] = static_cast<T>(value);
  });
}

}  // namespace paceline::reference
