// The device names in a job.
#ifndef PACELINE_COMMON_JOB_DEVICE_NAME_H_
#define PACELINE_COMMON_JOB_DEVICE_NAME_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "paceline/v1/job.pb.h"

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

// Whether a job may have the precision on the device. Under "auto" a device
// without it computes in float32.
bool MayHavePrecision(DeviceKind kind, v1::Precision precision);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_DEVICE_NAME_H_
