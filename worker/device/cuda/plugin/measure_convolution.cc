#include "worker/device/cuda/plugin/measure_convolution.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include "common/base/status_macros.h"
#include "worker/device/cuda/plugin/cuda_status.h"
#include "worker/device/cuda/plugin/cudnn_convolution.h"
#include "worker/device/cuda/plugin/cudnn_engines.h"

namespace paceline::cuda {
namespace {

// The first run also loads the kernels.
constexpr int kWarmups = 2;
constexpr int kRuns = 5;

// Temporary GPU memory.
class Scratch {
 public:
  ~Scratch() {
    for (void* block : blocks_) cudaFree(block);
  }

  absl::StatusOr<void*> Allocate(int64_t size_bytes) {
    void* block = nullptr;
    RETURN_IF_ERROR(
        ToStatus(cudaMalloc(&block, std::max<int64_t>(size_bytes, 1)),
                 "memory to measure in"));
    blocks_.push_back(block);
    RETURN_IF_ERROR(
        ToStatus(cudaMemset(block, 0, size_bytes), "memory to measure in"));
    return block;
  }
  absl::StatusOr<Values> AllocateValues(int64_t count, DataType type) {
    ASSIGN_OR_RETURN(void* const block,
                     Allocate(count * (type == DataType::kFloat32 ? 4 : 2)));
    return Values(block, type);
  }

 private:
  std::vector<void*> blocks_;
};

absl::StatusOr<ConvolutionBlocks> AllocateBlocks(const ConvolutionShape& shape,
                                                 int64_t workspace_bytes,
                                                 Scratch& scratch) {
  const auto& [y, x, channels] = shape.windows;
  ConvolutionBlocks blocks;
  ASSIGN_OR_RETURN(blocks.images,
                   scratch.AllocateValues(
                       shape.batch * y.input * x.input * channels, shape.type));
  ASSIGN_OR_RETURN(blocks.kernel,
                   scratch.AllocateValues(shape.filters * y.size * x.size *
                                              channels / shape.groups,
                                          shape.type));
  ASSIGN_OR_RETURN(
      blocks.outputs,
      scratch.AllocateValues(shape.batch * y.output * x.output * shape.filters,
                             shape.type));
  ASSIGN_OR_RETURN(const Values bias,
                   scratch.AllocateValues(shape.filters, DataType::kFloat32));
  blocks.bias = static_cast<const float*>(bias.data);
  ASSIGN_OR_RETURN(void* const workspace, scratch.Allocate(workspace_bytes));
  blocks.workspace = static_cast<std::byte*>(workspace);
  return blocks;
}

// Measures the time of work on a stream.
class Stopwatch {
 public:
  static absl::StatusOr<std::unique_ptr<Stopwatch>> Create(
      cudaStream_t stream) {
    auto watch = std::make_unique<Stopwatch>(stream);
    RETURN_IF_ERROR(ToStatus(cudaEventCreate(&watch->begin_), "an event"));
    RETURN_IF_ERROR(ToStatus(cudaEventCreate(&watch->end_), "an event"));
    return watch;
  }
  explicit Stopwatch(cudaStream_t stream) : stream_(stream) {}
  ~Stopwatch() {
    if (begin_ != nullptr) cudaEventDestroy(begin_);
    if (end_ != nullptr) cudaEventDestroy(end_);
  }

  absl::StatusOr<float> Milliseconds(
      const std::function<absl::Status()>& enqueue) {
    RETURN_IF_ERROR(ToStatus(cudaEventRecord(begin_, stream_), "an event"));
    RETURN_IF_ERROR(enqueue());
    RETURN_IF_ERROR(ToStatus(cudaEventRecord(end_, stream_), "an event"));
    RETURN_IF_ERROR(ToStatus(cudaEventSynchronize(end_), "a convolution"));
    float milliseconds = 0;
    RETURN_IF_ERROR(ToStatus(cudaEventElapsedTime(&milliseconds, begin_, end_),
                             "an event"));
    return milliseconds;
  }

 private:
  const cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace

absl::StatusOr<size_t> FastestPlan(
    cudnnHandle_t handle, const ConvolutionShape& computed,
    const std::vector<const CudnnDescriptor*>& plans) {
  int64_t workspace_bytes = 0;
  for (const CudnnDescriptor* plan : plans) {
    ASSIGN_OR_RETURN(const int64_t bytes, WorkspaceOf(*plan));
    workspace_bytes = std::max(workspace_bytes, bytes);
  }
  Scratch scratch;
  ASSIGN_OR_RETURN(const ConvolutionBlocks blocks,
                   AllocateBlocks(computed, workspace_bytes, scratch));
  // The handle's stream is the default stream.
  ASSIGN_OR_RETURN(const std::unique_ptr<Stopwatch> watch,
                   Stopwatch::Create(/*stream=*/nullptr));
  size_t fastest = 0;
  float least = std::numeric_limits<float>::max();
  for (size_t i = 0; i < plans.size(); ++i) {
    for (int run = 0; run < kWarmups + kRuns; ++run) {
      ASSIGN_OR_RETURN(const float milliseconds, watch->Milliseconds([&] {
        return ExecuteCudnnPlan(handle, *plans[i], computed, blocks);
      }));
      if (run < kWarmups || milliseconds >= least) continue;
      least = milliseconds;
      fastest = i;
    }
  }
  return fastest;
}

}  // namespace paceline::cuda
