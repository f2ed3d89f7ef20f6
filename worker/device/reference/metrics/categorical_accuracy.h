// The formula is with the class in common/model/metrics.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_METRICS_CATEGORICAL_ACCURACY_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_METRICS_CATEGORICAL_ACCURACY_H_

#include <algorithm>
#include <cstdint>

#include "common/model/metrics/categorical_accuracy.h"
#include "worker/device/reference/computation.h"

namespace paceline::reference {

template <typename T>
class CategoricalAccuracyComputation : public MetricComputation<T> {
 public:
  explicit CategoricalAccuracyComputation(const Metric& /*metric*/) {}

  double Total(const Tensor<T>& output, HostTensor labels) const override {
    const int64_t size = output.row_size();
    int64_t right = 0;
    for (int64_t r = 0; r < output.row_count(); ++r) {
      const T* const y = output.row(r);
      const T* const label = static_cast<const T*>(labels.data) + r * size;
      if (std::max_element(y, y + size) - y ==
          std::max_element(label, label + size) - label) {
        ++right;
      }
    }
    return static_cast<double>(right * output.batch_size()) /
           static_cast<double>(output.row_count());
  }
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_METRICS_CATEGORICAL_ACCURACY_H_
