// The device names in a job.
#ifndef PACELINE_COMMON_JOB_DEVICE_NAME_H_
#define PACELINE_COMMON_JOB_DEVICE_NAME_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

enum class DeviceKind { kAuto, kCpu, kReference, kCuda };

struct DeviceName {
  DeviceKind kind = DeviceKind::kAuto;
  // For kCuda: the number of the GPU.
  int ordinal = 0;
};

// Parses "auto", "cpu", "reference", "cuda" (the same as "cuda:0") or "cuda:N".
// InvalidArgument, with path "device", says what is expected.
absl::StatusOr<DeviceName> ParseDeviceName(absl::string_view text);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_DEVICE_NAME_H_
