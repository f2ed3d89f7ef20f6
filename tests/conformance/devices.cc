#include "tests/conformance/devices.h"

#include "tests/sanitizers/openmp_threads.h"
#include "worker/device/cpu/cpu_device.h"
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

}  // namespace

const std::vector<DeviceUnderTest>& DevicesUnderTest() {
  static const auto& devices = *new std::vector<DeviceUnderTest>{
      {"reference_float64", Make<ReferenceDevice<double>>, 1e-12},
      {"reference", Make<ReferenceDevice<float>>, kFloat32Tolerance},
      {"cpu", MakeCpu, kFloat32Tolerance},
  };
  return devices;
}

}  // namespace paceline
