// The device a job names.
#ifndef PACELINE_WORKER_MAKE_DEVICE_H_
#define PACELINE_WORKER_MAKE_DEVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "worker/device/device.h"

namespace paceline {

// "auto" and "cpu": oneDNN on `threads` threads; "reference": plain loops.
absl::StatusOr<std::unique_ptr<Device>> MakeDevice(absl::string_view name,
                                                   int threads);

}  // namespace paceline

#endif  // PACELINE_WORKER_MAKE_DEVICE_H_
