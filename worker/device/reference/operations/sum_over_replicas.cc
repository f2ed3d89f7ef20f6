#include "common/operations/sum_over_replicas.h"

#include <vector>

#include "worker/device/device.h"
#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateSumOverReplicas(const op::Operation& /*operation*/,
                             const Evaluation& evaluation) {
  WithRealType(evaluation.output().data_type(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<double> sums;
    for (const Array* input : evaluation.inputs) {
      sums.insert(sums.end(), input->values<T>().begin(),
                  input->values<T>().end());
    }
    if (evaluation.step.statistics_all_reduce != nullptr) {
      evaluation.step.statistics_all_reduce->AddUp(absl::MakeSpan(sums));
    }
    auto next = sums.begin();
    for (Array& output : evaluation.outputs) {
      for (T& value : output.values<T>()) value = static_cast<T>(*next++);
    }
  });
}

}  // namespace paceline::reference
