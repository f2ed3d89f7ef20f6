// The metrics that the CUDA device computes.
#ifndef PACELINE_WORKER_DEVICE_CUDA_METRICS_H_
#define PACELINE_WORKER_DEVICE_CUDA_METRICS_H_

#include <functional>

#include "absl/status/statusor.h"
#include "common/model/metric.h"
#include "common/tensor/shape.h"
#include "worker/device/cuda/kernels/kernel.h"

namespace paceline::cuda {

// What a metric reads and writes.
struct MetricBlocks {
  ConstValues outputs;
  // As the metric's has_sparse_labels has it.
  const void* labels = nullptr;
  // Of each example.
  double* values = nullptr;
};

// The kernel over the examples of these blocks.
using MetricKernel = std::function<Kernel(const MetricBlocks& blocks)>;

// `output` without the batch. Unimplemented names the metric.
absl::StatusOr<MetricKernel> MakeMetricKernel(const Metric& metric,
                                              const Shape& output);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_METRICS_H_
