// The CUDA device: cuDNN for convolutions, cuBLAS for matrix products, own
// kernels for everything else.
//
// Tensors between layers are dense, in Keras' order and in the storage type of
// their layer, images as (batch, height, width, channels). The host enqueues a
// step and does not wait for the GPU, with these exceptions: an event's Wait,
// TakeMetrics, Outputs; the first run of a section, so that an error can name
// the layer; and replicas with synchronized statistics.
//
// Own kernels add in a fixed order. With GpuOptions::deterministic convolutions
// do so, too; then a repeat gives the same bits on the same kind of GPU.
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
