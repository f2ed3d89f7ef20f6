// The formula is with the class in common/model/metrics.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_METRICS_BINARY_ACCURACY_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_METRICS_BINARY_ACCURACY_H_

#include <cstdint>

#include "common/model/metrics/binary_accuracy.h"
#include "worker/device/reference/computation.h"

namespace paceline::reference {

template <typename T>
class BinaryAccuracyComputation : public MetricComputation<T> {
 public:
  explicit BinaryAccuracyComputation(const Metric& metric)
      : threshold_(static_cast<T>(
            static_cast<const BinaryAccuracy&>(metric).threshold)) {}

  double Total(const Tensor<T>& output, HostTensor labels) const override {
    const auto* const label = static_cast<const T*>(labels.data);
    int64_t right = 0;
    for (int64_t i = 0; i < output.size(); ++i) {
      const T yes_or_no = output.values[i] > threshold_ ? 1 : 0;
      if (label[i] == yes_or_no) ++right;
    }
    return static_cast<double>(right) /
           static_cast<double>(output.example_size());
  }

 private:
  T threshold_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_METRICS_BINARY_ACCURACY_H_
