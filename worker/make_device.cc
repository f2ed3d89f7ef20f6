#include "worker/make_device.h"

#include "absl/strings/str_cat.h"
#include "worker/device/cpu/cpu_device.h"
#include "worker/device/reference/reference_device.h"

namespace paceline {

absl::StatusOr<std::unique_ptr<Device>> MakeDevice(absl::string_view name,
                                                   int threads) {
  if (name == "auto" || name == "cpu") {
    CpuDeviceOptions options;
    options.threads = threads;
    return std::make_unique<CpuDevice>(options);
  }
  if (name == "reference") return std::make_unique<ReferenceDevice<float>>();
  return absl::InvalidArgumentError(absl::StrCat(
      "device: \"", name, "\" is unknown; expected auto, cpu or reference"));
}

}  // namespace paceline
