#include "tests/conformance/devices.h"

#include "common/base/status_macros.h"
#include "tests/conformance/fake_gpu.h"
#include "tests/machine.h"
#include "tests/sanitizers/openmp_threads.h"
#include "worker/device/cpu/cpu_device.h"
#include "worker/device/cuda/cuda_device.h"
#include "worker/device/cuda/open_gpu.h"
#include "worker/device/reference/reference_device.h"

namespace paceline {
namespace {

// Rounding errors of float32 over the sums of the cases.
constexpr double kFloat32Tolerance = 2e-5;

template <typename D>
std::unique_ptr<Device> Make() {
  return std::make_unique<D>();
}

std::unique_ptr<Device> MakeCpu() {
  return std::make_unique<CpuDevice>(
      CpuDeviceOptions{.threads = kOpenMpThreads});
}

std::unique_ptr<Device> MakeCudaOnFake() {
  return std::make_unique<CudaDevice>(cuda::MakeFakeGpu());
}

std::unique_ptr<Device> MakeCuda() {
  return std::make_unique<CudaDevice>(*OpenFirstGpu());
}

std::unique_ptr<Device> MakeDeterministicCuda() {
  return std::make_unique<CudaDevice>(*OpenFirstGpu({.deterministic = true}));
}

}  // namespace

DeviceUnderTest Deterministic(DeviceUnderTest device) {
  if (device.make_deterministic) device.make = device.make_deterministic;
  return device;
}

absl::StatusOr<std::unique_ptr<cuda::Gpu>> OpenFirstGpu(
    const cuda::GpuOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<cuda::Driver> driver,
                   cuda::LoadDriver({}));
  return cuda::OpenGpu(*driver, 0, {.gpu = options});
}

const absl::Status& GpuStatus() {
  static const auto& status = *new absl::Status(OpenFirstGpu().status());
  return status;
}

std::string GpuObstacle() {
  if (!PACELINE_HAS_CUDA_PLUGIN) return "this build has no CUDA plug-in";
  return MachineHasGpu() ? "" : "this machine has no NVIDIA GPU";
}

const std::vector<DeviceUnderTest>& DevicesUnderTest() {
  static const auto& devices = *[] {
    auto* all = new std::vector<DeviceUnderTest>{
        {"reference_float64", Make<ReferenceDevice<double>>, 1e-12},
        {"reference", Make<ReferenceDevice<float>>, kFloat32Tolerance},
        {"cpu", MakeCpu, kFloat32Tolerance},
        {"cuda_on_fake", MakeCudaOnFake, kFloat32Tolerance},
    };
    if (GpuStatus().ok()) {
      all->push_back(
          {"cuda", MakeCuda, kFloat32Tolerance, MakeDeterministicCuda});
    }
    return all;
  }();
  return devices;
}

}  // namespace paceline
