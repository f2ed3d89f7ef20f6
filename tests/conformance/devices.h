// The devices that must agree.
#ifndef PACELINE_TESTS_CONFORMANCE_DEVICES_H_
#define PACELINE_TESTS_CONFORMANCE_DEVICES_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/cuda/gpu.h"
#include "worker/device/device.h"

namespace paceline {

struct DeviceUnderTest {
  // For test names: letters, digits, underscores.
  std::string name;
  std::function<std::unique_ptr<Device>()> make;
  // How far a value may be from the float64 reference, relative to the largest
  // value of its tensor.
  double tolerance = 0;
  // As a job with `deterministic: true` gets it; null: as any job does.
  std::function<std::unique_ptr<Device>()> make_deterministic = nullptr;
};

inline void PrintTo(const DeviceUnderTest& device, std::ostream* stream) {
  *stream << device.name;
}

// A new device is one line here. The GPU is among them where one can be used.
const std::vector<DeviceUnderTest>& DevicesUnderTest();

// The same device, which gives the same bits at each run.
DeviceUnderTest Deterministic(DeviceUnderTest device);

absl::StatusOr<std::unique_ptr<cuda::Gpu>> OpenFirstGpu(
    const cuda::GpuOptions& options = {});

// Why none can be used.
const absl::Status& GpuStatus();

// Why none is to be used, whatever our code says: the machine has none, or the
// build lacks the plug-in. "": one must be among the devices.
std::string GpuObstacle();

}  // namespace paceline

#endif  // PACELINE_TESTS_CONFORMANCE_DEVICES_H_
