// A cudaStream_t with its cuBLAS and cuDNN handles.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDA_QUEUE_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDA_QUEUE_H_

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "worker/device/cuda/gpu.h"

namespace paceline::cuda {

class CudaQueue final : public Queue {
 public:
  // NVIDIA's recommendation for Hopper; older GPUs need half of it.
  static constexpr int64_t kWorkspaceBytes = 32 << 20;

  // On GPU `ordinal`. `workspace` has kWorkspaceBytes of GPU memory; null for
  // QueueKind::kCopying.
  static absl::StatusOr<std::unique_ptr<Queue>> Create(int ordinal,
                                                       MathMode math_mode,
                                                       MemoryBlock workspace);
  ~CudaQueue() override;

  absl::Status Synchronize() override;
  void Copy(void* to, const void* from, int64_t size_bytes) override;
  void Zero(void* to, int64_t size_bytes) override;
  void Multiply(const MatrixProduct& product) override;
  void Convolve(const ConvolutionPlan& plan,
                const ConvolutionBlocks& blocks) override;
  void ForEach(int64_t count, const Kernel& kernel) override;
  void Record(Event& event) override;
  void WaitFor(Event& event) override;
  void BeginCapture() override;
  absl::StatusOr<std::unique_ptr<CapturedGraph>> EndCapture() override;
  void Launch(CapturedGraph& graph) override;
  absl::Status TakeError() override;

  cudaStream_t stream() const { return stream_; }

 private:
  CudaQueue(int ordinal, MathMode math_mode, MemoryBlock workspace);
  absl::Status Initialize();
  absl::Status InitializeProducts();
  void MultiplyPlain(const MatrixProduct& product);
  // Makes this GPU the calling thread's current one.
  void Use();
  // Records an error, if it is the first.
  template <typename Error>
  void Note(Error error, absl::string_view what);
  void NoteStatus(const absl::Status& status);

  const int ordinal_;
  const MathMode math_mode_;
  const std::string name_;
  cudaStream_t stream_ = nullptr;
  // The event for which Synchronize waits.
  std::unique_ptr<Event> end_;
  // cuBLAS' workspace. A captured product must not share it with another
  // stream. Allocated in advance, since allocating during a capture is not
  // allowed.
  const MemoryBlock workspace_;
  cublasHandle_t blas_ = nullptr;
  // Created at the first convolution.
  cudnnHandle_t dnn_ = nullptr;
  absl::Status error_;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDA_QUEUE_H_
