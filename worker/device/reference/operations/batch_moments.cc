#include "common/operations/batch_moments.h"

#include <vector>

#include "worker/device/device.h"
#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

namespace {

// Replaces the row count, the means and Σ (x − mean)² of this replica by those
// of all replicas.
void Share(StatisticsAllReduce& all_reduce, double& count,
           std::vector<double>& means, std::vector<double>& deviations) {
  std::vector<double> moments = {count};
  moments.insert(moments.end(), means.begin(), means.end());
  moments.insert(moments.end(), deviations.begin(), deviations.end());
  all_reduce.MergeMoments(absl::MakeSpan(moments));
  count = moments[0];
  for (size_t c = 0; c < means.size(); ++c) {
    means[c] = moments[1 + c];
    deviations[c] = moments[1 + means.size() + c];
  }
}

}  // namespace

void EvaluateBatchMoments(const op::Operation& operation,
                          const Evaluation& evaluation) {
  const auto& moments =
      static_cast<const op::BatchMomentsOperation&>(operation);
  StatisticsAllReduce* const all_reduce =
      moments.over_replicas() ? evaluation.step.statistics_all_reduce : nullptr;
  const Array& x = evaluation.input(0);
  const int64_t channels = x.shape().back();
  WithRealType(x.data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const T> values = x.values<T>();
    double count =
        static_cast<double>(values.size()) / static_cast<double>(channels);
    std::vector<double> means(channels);
    std::vector<double> deviations(channels);
    for (size_t i = 0; i < values.size(); ++i) {
      means[i % channels] += values[i] / count;
    }
    for (size_t i = 0; i < values.size(); ++i) {
      const double deviation = values[i] - means[i % channels];
      deviations[i % channels] += deviation * deviation;
    }
    if (all_reduce != nullptr) Share(*all_reduce, count, means, deviations);
    evaluation.outputs[0].values<double>()[0] = count;
    for (int64_t c = 0; c < channels; ++c) {
      evaluation.outputs[1].values<double>()[c] = means[c];
      evaluation.outputs[2].values<double>()[c] =
          count > 0 ? deviations[c] / count : 0;
    }
  });
}

}  // namespace paceline::reference
