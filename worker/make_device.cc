#include "worker/make_device.h"

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/job/device_name.h"
#include "glog/logging.h"
#include "worker/device/cpu/cpu_device.h"
#include "worker/device/cuda/cuda_device.h"
#include "worker/device/reference/reference_device.h"

namespace paceline {
namespace {

std::unique_ptr<Device> MakeCpuDevice(int threads) {
  CpuDeviceOptions options;
  options.threads = threads;
  return std::make_unique<CpuDevice>(options);
}

absl::StatusOr<std::unique_ptr<Device>> MakeCudaDevice(
    int first, int index, const Graph& graph,
    const cuda::Libraries& libraries) {
  ASSIGN_OR_RETURN(const std::unique_ptr<cuda::Driver> driver,
                   cuda::LoadDriver(libraries));
  const int ordinal = cuda::OrdinalOf(first, index, driver->Report().gpu_count);
  ASSIGN_OR_RETURN(std::unique_ptr<cuda::Gpu> gpu,
                   cuda::OpenGpu(*driver, ordinal));
  auto device = std::make_unique<CudaDevice>(std::move(gpu));
  RETURN_IF_ERROR(device->Supports(graph));
  return device;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> MakeDevice(
    const DeviceChoice& choice, const Graph& graph,
    const cuda::Libraries& libraries) {
  ASSIGN_OR_RETURN(const DeviceName parsed, ParseDeviceName(choice.name));
  if (parsed.kind == DeviceKind::kCpu) return MakeCpuDevice(choice.threads);
  if (parsed.kind == DeviceKind::kReference) {
    return std::make_unique<ReferenceDevice<float>>();
  }
  absl::StatusOr<std::unique_ptr<Device>> device =
      MakeCudaDevice(parsed.ordinal, choice.index, graph, libraries);
  if (device.ok()) return device;
  if (parsed.kind == DeviceKind::kAuto) {
    // Once a process, however many replicas it has.
    LOG_FIRST_N(INFO, 1) << "device: auto takes the CPU: "
                         << device.status().message();
    return MakeCpuDevice(choice.threads);
  }
  return absl::Status(
      device.status().code(),
      absl::StrCat("device: ", choice.name, ": ", device.status().message()));
}

}  // namespace paceline
