#include "common/job/device_name.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

absl::StatusOr<DeviceName> ParseDeviceName(absl::string_view text) {
  if (text == "auto") return DeviceName{DeviceKind::kAuto};
  if (text == "cpu") return DeviceName{DeviceKind::kCpu};
  if (text == "reference") return DeviceName{DeviceKind::kReference};
  if (text == "cuda") return DeviceName{DeviceKind::kCuda};
  absl::string_view digits = text;
  DeviceName name{DeviceKind::kCuda};
  // SimpleAtoi takes signs and spaces, too.
  if (absl::ConsumePrefix(&digits, "cuda:") &&
      std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit) &&
      absl::SimpleAtoi(digits, &name.ordinal)) {
    return name;
  }
  return ConfigError(
      Path("device"),
      absl::StrCat("unknown device ", Excerpt(Value(std::string(text))),
                   "; expected auto, cpu, reference, cuda or cuda:N"));
}

bool MayHavePrecision(DeviceKind kind, v1::Precision precision) {
  return kind == DeviceKind::kAuto || kind == DeviceKind::kCuda ||
         precision <= v1::PRECISION_FLOAT32 ||
         (kind == DeviceKind::kCpu &&
          precision == v1::PRECISION_MIXED_BFLOAT16);
}

}  // namespace paceline
