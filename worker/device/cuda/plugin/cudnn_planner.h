// Chooses how cuDNN computes a convolution.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_PLANNER_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_PLANNER_H_

#include <cudnn.h>

#include <cstddef>
#include <map>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "worker/device/cuda/gpu.h"
#include "worker/device/cuda/plugin/cudnn_convolution.h"

namespace paceline::cuda {

// By cuDNN's rules, or with `autotune` the fastest of what the rules name
// first, but not for an estimate. What was chosen for use is remembered by
// shape, so that it is computed alike wherever it comes. Thread-safe. Calls are
// made with its GPU current, the same each time, and so is its end.
class CudnnPlanner {
 public:
  explicit CudnnPlanner(const GpuOptions& options) : options_(options) {}
  ~CudnnPlanner();

  absl::StatusOr<std::unique_ptr<ConvolutionPlan>> Plan(
      const ConvolutionShape& shape, Planning planning)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Algorithm = std::shared_ptr<const CudnnAlgorithm>;

  // Of so many at most that the rules name first.
  absl::StatusOr<Algorithm> Choose(const ConvolutionShape& shape,
                                   size_t max_candidates)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // For a graph that computes just that.
  absl::StatusOr<Algorithm> ChooseFor(const ConvolutionShape& computed,
                                      size_t max_candidates)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const GpuOptions options_;
  Mutex mutex_;
  // Made at first use: cuDNN takes time and memory.
  cudnnHandle_t handle_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::map<ConvolutionShape, Algorithm> chosen_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_PLANNER_H_
