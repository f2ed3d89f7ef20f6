// The entry point of the plug-in, and the GPU interface implemented by the CUDA
// runtime.
#include <cuda_runtime_api.h>

#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "glog/logging.h"
#include "worker/device/cuda/out_of_memory.h"
#include "worker/device/cuda/plugin/communicator.h"
#include "worker/device/cuda/plugin/cuda_event.h"
#include "worker/device/cuda/plugin/cuda_queue.h"
#include "worker/device/cuda/plugin/cuda_status.h"
#include "worker/device/cuda/plugin/cudnn_planner.h"
#include "worker/device/cuda/plugin_entry.h"

namespace paceline::cuda {
namespace {

class CudaGpu final : public Gpu {
 public:
  CudaGpu(int ordinal, const GpuOptions& options)
      : ordinal_(ordinal), options_(options), planner_(options) {}
  // Makes the GPU current, since the planner's destructor needs it.
  ~CudaGpu() override { Use().IgnoreError(); }

  std::string name() const override { return absl::StrCat("cuda:", ordinal_); }

  absl::StatusOr<GpuMemory> Memory() const override {
    RETURN_IF_ERROR(Use());
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    RETURN_IF_ERROR(ToStatus(cudaMemGetInfo(&free_bytes, &total_bytes),
                             absl::StrCat(name(), ": its memory")));
    return GpuMemory{static_cast<int64_t>(free_bytes),
                     static_cast<int64_t>(total_bytes)};
  }

  std::string gpu_uuid() const override {
    cudaDeviceProp properties;
    absl::Status status = CheckGroups();
    status.Update(
        ToStatus(cudaGetDeviceProperties(&properties, ordinal_), name()));
    if (!status.ok()) {
      LOG(INFO) << name() << " works alone: " << status.message();
      return "";
    }
    return absl::StrCat(
        "GPU-", absl::BytesToHexString(absl::string_view(
                    properties.uuid.bytes, sizeof(properties.uuid.bytes))));
  }
  absl::StatusOr<std::string> NewNcclId() override {
    RETURN_IF_ERROR(Use());
    return cuda::NewNcclId();
  }
  absl::StatusOr<std::unique_ptr<Communicator>> JoinGroup(
      const DeviceGroupOptions& options) override {
    return cuda::JoinGroup(ordinal_, options);
  }

  absl::StatusOr<MemoryBlock> Allocate(int64_t size_bytes,
                                       absl::string_view what) override {
    RETURN_IF_ERROR(Use());
    void* data = nullptr;
    RETURN_IF_ERROR(
        CheckMemory(cudaMalloc(&data, size_bytes), size_bytes, what));
    MemoryBlock block(static_cast<std::byte*>(data),
                      [](std::byte* each) { cudaFree(each); });
    RETURN_IF_ERROR(ToStatus(cudaMemset(data, 0, size_bytes), what));
    // Other queues are not ordered after the legacy stream on which this ran,
    // so wait here.
    RETURN_IF_ERROR(ToStatus(cudaStreamSynchronize(cudaStreamLegacy), what));
    return block;
  }

  absl::StatusOr<MemoryBlock> AllocatePinned(int64_t size_bytes,
                                             absl::string_view what) override {
    RETURN_IF_ERROR(Use());
    void* data = nullptr;
    RETURN_IF_ERROR(
        CheckPinned(cudaHostAlloc(&data, size_bytes, cudaHostAllocDefault),
                    size_bytes, what));
    std::memset(data, 0, size_bytes);
    return MemoryBlock(static_cast<std::byte*>(data),
                       [](std::byte* each) { cudaFreeHost(each); });
  }

  absl::StatusOr<MemoryBlock> Pin(absl::Span<std::byte> memory,
                                  absl::string_view what) override {
    RETURN_IF_ERROR(Use());
    RETURN_IF_ERROR(CheckPinned(
        cudaHostRegister(memory.data(), memory.size(), cudaHostRegisterDefault),
        static_cast<int64_t>(memory.size()), what));
    return MemoryBlock(memory.data(),
                       [](std::byte* each) { cudaHostUnregister(each); });
  }

  absl::StatusOr<std::unique_ptr<ConvolutionPlan>> PlanConvolution(
      const ConvolutionShape& shape, Planning planning) override {
    RETURN_IF_ERROR(Use());
    return planner_.Plan(shape, planning);
  }

  absl::StatusOr<std::unique_ptr<Queue>> CreateQueue(QueueKind kind) override {
    MemoryBlock workspace;
    if (kind == QueueKind::kComputing) {
      ASSIGN_OR_RETURN(workspace, Allocate(CudaQueue::kWorkspaceBytes,
                                           "the workspace of matrix products"));
    }
    return CudaQueue::Create(ordinal_, options_.math_mode,
                             std::move(workspace));
  }

  absl::StatusOr<std::unique_ptr<Event>> CreateEvent() override {
    RETURN_IF_ERROR(Use());
    return CudaEvent::Create();
  }

 private:
  // Makes this GPU the calling thread's current one.
  absl::Status Use() const { return ToStatus(cudaSetDevice(ordinal_), name()); }

  absl::Status CheckMemory(cudaError_t error, int64_t size_bytes,
                           absl::string_view what) const {
    const absl::Status status = ToStatus(error, name());
    if (!absl::IsResourceExhausted(status)) return status;
    ASSIGN_OR_RETURN(const GpuMemory memory, Memory());
    return OutOfMemory(name(), what, size_bytes, memory);
  }

  absl::Status CheckPinned(cudaError_t error, int64_t size_bytes,
                           absl::string_view what) const {
    const absl::Status status = ToStatus(
        error,
        absl::StrCat(name(), ": pinning ", size_bytes, " bytes for ", what));
    return absl::IsResourceExhausted(status)
               ? OutOfPinnedMemory(name(), what, size_bytes)
               : status;
  }

  const int ordinal_;
  const GpuOptions options_;
  CudnnPlanner planner_;
};

class CudaDriver final : public Driver {
 public:
  DriverReport Report() const override {
    DriverReport report;
    cudaDriverGetVersion(&report.driver_version);
    cudaRuntimeGetVersion(&report.runtime_version);
    // A driver supports all minor versions of its major version.
    report.needed_version = report.runtime_version / 1000 * 1000;
    if (!ToStatus(cudaGetDeviceCount(&report.gpu_count), "GPUs").ok()) {
      report.gpu_count = 0;
    }
    return report;
  }

  absl::StatusOr<std::unique_ptr<Gpu>> Open(
      int ordinal, const GpuOptions& options) override {
    RETURN_IF_ERROR(
        ToStatus(cudaSetDevice(ordinal), absl::StrCat("cuda:", ordinal)));
    return std::make_unique<CudaGpu>(ordinal, options);
  }
};

}  // namespace
}  // namespace paceline::cuda

extern "C" paceline::cuda::Driver* PacelineMakeCudaDriver() {
  return new paceline::cuda::CudaDriver;
}
