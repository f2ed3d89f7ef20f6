// The formula is with the class in common/model/metrics.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_METRICS_TOP_K_CATEGORICAL_ACCURACY_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_METRICS_TOP_K_CATEGORICAL_ACCURACY_H_

#include <algorithm>
#include <cstdint>

#include "common/model/metrics/top_k_categorical_accuracy.h"
#include "worker/device/reference/computation.h"
#include "worker/device/reference/metrics/top_k.h"

namespace paceline::reference {

template <typename T>
class TopKCategoricalAccuracyComputation : public MetricComputation<T> {
 public:
  explicit TopKCategoricalAccuracyComputation(const Metric& metric)
      : k_(static_cast<const TopKCategoricalAccuracy&>(metric).k) {}

  double Total(const Tensor<T>& output, HostTensor labels) const override {
    const int64_t size = output.row_size();
    int64_t right = 0;
    for (int64_t r = 0; r < output.row_count(); ++r) {
      const T* const label = static_cast<const T*>(labels.data) + r * size;
      const int64_t target = std::max_element(label, label + size) - label;
      if (IsInTopK(output.row(r), size, target, k_)) ++right;
    }
    return static_cast<double>(right);
  }

 private:
  int64_t k_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_METRICS_TOP_K_CATEGORICAL_ACCURACY_H_
