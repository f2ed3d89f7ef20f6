#include "common/operations/batch_moments.h"

#include <vector>

#include "worker/device/device.h"
#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateBatchMoments(const op::Operation& operation,
                          const Evaluation& evaluation) {
  const auto& moments =
      static_cast<const op::BatchMomentsOperation&>(operation);
  ReplicaSum* const replica_sum =
      moments.over_replicas() ? evaluation.step.replica_sum : nullptr;
  const Array& x = evaluation.input(0);
  const int64_t channels = x.shape().back();
  WithRealType(x.data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const T> values = x.values<T>();
    // Rows, and Σ x of each channel behind them.
    std::vector<double> sums(1 + channels);
    sums[0] =
        static_cast<double>(values.size()) / static_cast<double>(channels);
    for (size_t i = 0; i < values.size(); ++i) {
      sums[1 + i % channels] += values[i];
    }
    if (replica_sum != nullptr) replica_sum->AddUp(absl::MakeSpan(sums));
    const double count = sums[0];
    std::vector<double> means(channels);
    for (int64_t c = 0; c < channels && count > 0; ++c) {
      means[c] = sums[1 + c] / count;
    }
    std::vector<double> deviations(channels);
    for (size_t i = 0; i < values.size(); ++i) {
      const double deviation = values[i] - means[i % channels];
      deviations[i % channels] += deviation * deviation;
    }
    if (replica_sum != nullptr) {
      replica_sum->AddUp(absl::MakeSpan(deviations));
    }
    evaluation.outputs[0].values<T>()[0] = static_cast<T>(count);
    for (int64_t c = 0; c < channels; ++c) {
      evaluation.outputs[1].values<T>()[c] = static_cast<T>(means[c]);
      evaluation.outputs[2].values<T>()[c] =
          static_cast<T>(count > 0 ? deviations[c] / count : 0);
    }
  });
}

}  // namespace paceline::reference
