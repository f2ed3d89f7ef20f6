// Chooses cuDNN's algorithm for a convolution.
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

// Uses cuDNN's heuristics; with `autotune`, measures the candidates that these
// rank first, except for an estimate. Remembers what was chosen for use by
// shape, so that the same shape is always computed in the same way.
// Thread-safe. The same GPU must be current in all calls and in the destructor.
class CudnnPlanner {
 public:
  explicit CudnnPlanner(const GpuOptions& options) : options_(options) {}
  ~CudnnPlanner();

  absl::StatusOr<std::unique_ptr<ConvolutionPlan>> Plan(
      const ConvolutionShape& shape, Planning planning)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Algorithm = std::shared_ptr<const CudnnAlgorithm>;
  // An algorithm, and a first plan of it.
  struct Choice {
    Algorithm algorithm;
    CudnnPlan plan;
  };

  // Considers at most `max_candidates`, in the order of the heuristics.
  absl::StatusOr<Choice> Choose(const ConvolutionShape& shape,
                                size_t max_candidates)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The same for a graph that computes exactly `computed`.
  absl::StatusOr<Choice> ChooseFor(const ConvolutionShape& computed,
                                   size_t max_candidates)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Another plan. Plans of some engines are not thread-safe, so each user has
  // its own.
  absl::StatusOr<Choice> PlanAgain(Algorithm algorithm)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // By the remembered algorithm, or one that is then remembered.
  absl::StatusOr<Choice> ChooseOnce(const ConvolutionShape& shape,
                                    Planning planning)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const GpuOptions options_;
  Mutex mutex_;
  // Created on first use, since cuDNN takes time and memory.
  cudnnHandle_t handle_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::map<ConvolutionShape, Algorithm> chosen_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_PLANNER_H_
