// The formula is with the class in common/model/metrics.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_METRICS_SPARSE_TOP_K_CATEGORICAL_ACCURACY_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_METRICS_SPARSE_TOP_K_CATEGORICAL_ACCURACY_H_

#include <cstdint>

#include "common/model/metrics/sparse_top_k_categorical_accuracy.h"
#include "worker/device/reference/computation.h"
#include "worker/device/reference/metrics/top_k.h"

namespace paceline::reference {

template <typename T>
class SparseTopKCategoricalAccuracyComputation : public MetricComputation<T> {
 public:
  explicit SparseTopKCategoricalAccuracyComputation(const Metric& metric)
      : k_(static_cast<const SparseTopKCategoricalAccuracy&>(metric).k) {}

  double Total(const Tensor<T>& output, HostTensor labels) const override {
    const auto* const label = static_cast<const int32_t*>(labels.data);
    int64_t right = 0;
    for (int64_t r = 0; r < output.row_count(); ++r) {
      if (IsInTopK(output.row(r), output.row_size(), label[r], k_)) ++right;
    }
    return static_cast<double>(right);
  }

 private:
  int64_t k_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_METRICS_SPARSE_TOP_K_CATEGORICAL_ACCURACY_H_
