#include "common/operations/sum_over_replicas.h"

#include <algorithm>
#include <vector>

#include "worker/device/device.h"
#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateSumOverReplicas(const op::Operation& /*operation*/,
                             const Evaluation& evaluation) {
  const Array& x = evaluation.input(0);
  WithRealType(x.data_type(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<double> sums(x.values<T>().begin(), x.values<T>().end());
    if (evaluation.step.replica_sum != nullptr) {
      evaluation.step.replica_sum->AddUp(absl::MakeSpan(sums));
    }
    std::transform(sums.begin(), sums.end(),
                   evaluation.output().values<T>().begin(),
                   [](double sum) { return static_cast<T>(sum); });
  });
}

}  // namespace paceline::reference
