// The devices under test, which must agree.
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
  // Largest error compared to the float64 reference, relative to the largest
  // value of the tensor.
  double tolerance = 0;
  // Creates the device with `deterministic: true`; null: all jobs get the same
  // device.
  std::function<std::unique_ptr<Device>()> make_deterministic = nullptr;
};

inline void PrintTo(const DeviceUnderTest& device, std::ostream* stream) {
  *stream << device.name;
}

// To test a new device, add a line here. Includes the GPU if one can be used.
const std::vector<DeviceUnderTest>& DevicesUnderTest();

// The same device in deterministic mode.
DeviceUnderTest Deterministic(DeviceUnderTest device);

absl::StatusOr<std::unique_ptr<cuda::Gpu>> OpenFirstGpu(
    const cuda::GpuOptions& options = {});

// Why no GPU can be used; OK if one can.
const absl::Status& GpuStatus();

// The reason outside of our code why no GPU is tested: the machine has none, or
// the build has no plug-in. "": a GPU must be among the devices.
std::string GpuObstacle();

}  // namespace paceline

#endif  // PACELINE_TESTS_CONFORMANCE_DEVICES_H_
