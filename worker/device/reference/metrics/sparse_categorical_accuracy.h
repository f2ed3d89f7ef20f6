// The formula is with the class in common/model/metrics.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_METRICS_SPARSE_CATEGORICAL_ACCURACY_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_METRICS_SPARSE_CATEGORICAL_ACCURACY_H_

#include <algorithm>
#include <cstdint>

#include "common/model/metrics/sparse_categorical_accuracy.h"
#include "worker/device/reference/computation.h"

namespace paceline::reference {

template <typename T>
class SparseCategoricalAccuracyComputation : public MetricComputation<T> {
 public:
  explicit SparseCategoricalAccuracyComputation(const Metric& /*metric*/) {}

  double Total(const Tensor<T>& output, HostTensor labels) const override {
    const auto* const label = static_cast<const int32_t*>(labels.data);
    int64_t right = 0;
    for (int64_t r = 0; r < output.row_count(); ++r) {
      const T* const y = output.row(r);
      if (std::max_element(y, y + output.row_size()) - y == label[r]) ++right;
    }
    return static_cast<double>(right);
  }
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_METRICS_SPARSE_CATEGORICAL_ACCURACY_H_
