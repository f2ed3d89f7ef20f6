// The CUDA device: cuDNN for convolutions, cuBLAS for matrix products, and
// kernels of our own for the rest.
//
// Everything between layers is dense, in Keras' order and the type of the
// program's precision, images as (batch, height, width, channels). What a step
// needs of the host is enqueued once, and nothing waits for the GPU but who
// asks: an event's Wait, TakeMetrics, Output; but a section's first run, so
// that its errors name the layer, and replicas that share statistics. Our
// kernels add up in a fixed order. With GpuOptions::deterministic so do
// convolutions: a repeat gives the same bits, on the same kind of GPU.
#ifndef PACELINE_WORKER_DEVICE_CUDA_CUDA_DEVICE_H_
#define PACELINE_WORKER_DEVICE_CUDA_CUDA_DEVICE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/cuda/gpu.h"
#include "worker/device/device.h"

namespace paceline {

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(std::unique_ptr<cuda::Gpu> gpu);

  // "cuda:0".
  std::string name() const override { return gpu_->name(); }
  absl::Status Supports(const ProgramSpec& spec) const override;
  bool CanCompute(Precision /*precision*/) const override { return true; }
  bool CanUpdate() const override { return true; }
  std::string gpu_uuid() const override { return gpu_->gpu_uuid(); }
  absl::StatusOr<std::string> NewNcclId() override { return gpu_->NewNcclId(); }
  absl::StatusOr<std::unique_ptr<DeviceGroup>> JoinGroup(
      const DeviceGroupOptions& options) override {
    return gpu_->JoinGroup(options);
  }
  absl::StatusOr<std::unique_ptr<Stream>> CreateStream() override;
  absl::StatusOr<std::unique_ptr<ModelState>> CreateState(
      const ProgramSpec& spec) override;
  absl::StatusOr<std::unique_ptr<Program>> Compile(const ProgramSpec& spec,
                                                   ModelState& state) override;

 private:
  const std::unique_ptr<cuda::Gpu> gpu_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_CUDA_CUDA_DEVICE_H_
