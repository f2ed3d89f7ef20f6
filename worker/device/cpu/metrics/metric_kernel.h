// How the CPU device computes metrics, but for mean losses.
#ifndef PACELINE_WORKER_DEVICE_CPU_METRICS_METRIC_KERNEL_H_
#define PACELINE_WORKER_DEVICE_CPU_METRICS_METRIC_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "common/model/metric.h"
#include "common/tensor/shape.h"

namespace paceline::cpu {

// The value of one example.
//
// Immutable; thread-safe.
class MetricKernel {
 public:
  virtual ~MetricKernel() = default;
  // `outputs` and `labels` of the whole batch.
  virtual double ValueOf(int64_t example, const float* outputs,
                         const std::byte* labels) const = 0;
};

// For outputs of shape `output`, which the metric accepts. Unimplemented names
// a metric that the device cannot compute.
absl::StatusOr<std::unique_ptr<const MetricKernel>> MakeMetricKernel(
    const Metric& metric, const Shape& output);

using MetricKernelFactory = std::unique_ptr<const MetricKernel>(
    const Metric& metric, const Shape& output);
// accuracy.cc
MetricKernelFactory MakeBinaryAccuracy;
MetricKernelFactory MakeCategoricalAccuracy;
MetricKernelFactory MakeSparseCategoricalAccuracy;
// top_k_accuracy.cc
MetricKernelFactory MakeTopKCategoricalAccuracy;
MetricKernelFactory MakeSparseTopKCategoricalAccuracy;

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_METRICS_METRIC_KERNEL_H_
