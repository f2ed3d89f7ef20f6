#include "coordinator/cli/service/units.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace paceline {
namespace {

// Far above what the coordinator accepts, and far from the range of uint64.
constexpr double kMaxCores = 1e9;
constexpr int64_t kMaxDays = 100'000;

absl::Status Unexpected(absl::string_view option, absl::string_view text,
                        absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(option, ": \"", text, "\"; expected ", expected));
}

}  // namespace

absl::StatusOr<absl::Duration> ParseDuration(absl::string_view option,
                                             absl::string_view text) {
  const absl::Status error =
      Unexpected(option, text, "a duration above 0, such as 90s, 1h30m or 2d");
  absl::Duration duration;
  absl::string_view rest = text;
  if (const size_t end = text.find('d'); end != text.npos) {
    int64_t days = 0;
    if (!absl::SimpleAtoi(text.substr(0, end), &days) || days < 0 ||
        days > kMaxDays) {
      return error;
    }
    duration = absl::Hours(24) * days;
    rest = text.substr(end + 1);
  }
  absl::Duration time;
  if ((!rest.empty() || rest.size() == text.size()) &&
      !absl::ParseDuration(rest, &time)) {
    return error;
  }
  duration += time;
  if (duration <= absl::ZeroDuration() ||
      duration > absl::Hours(24) * kMaxDays) {
    return error;
  }
  return duration;
}

std::string ShortDuration(absl::Duration duration) {
  struct Unit {
    const char* name;
    int64_t seconds;
  };
  constexpr Unit kUnits[] = {{"d", 86'400}, {"h", 3'600}, {"m", 60}, {"s", 1}};
  int64_t seconds = std::max<int64_t>(0, absl::ToInt64Seconds(duration));
  for (size_t i = 0; i < std::size(kUnits); ++i) {
    const int64_t count = seconds / kUnits[i].seconds;
    if (count == 0) continue;
    std::string text = absl::StrCat(count, kUnits[i].name);
    seconds %= kUnits[i].seconds;
    if (i + 1 < std::size(kUnits) && seconds >= kUnits[i + 1].seconds) {
      absl::StrAppend(&text, seconds / kUnits[i + 1].seconds,
                      kUnits[i + 1].name);
    }
    return text;
  }
  return "0s";
}

std::string ShortSize(uint64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  double value = static_cast<double>(bytes);
  const char* name = "";
  for (const char* unit : {"KiB", "MiB", "GiB", "TiB"}) {
    if (value < 1024) break;
    value /= 1024;
    name = unit;
  }
  return absl::StrFormat("%.*f %s", value < 10 ? 1 : 0, value, name);
}

absl::StatusOr<uint64_t> ParseCores(absl::string_view option,
                                    absl::string_view text) {
  double cores = 0;
  if (!absl::SimpleAtod(text, &cores) || !(cores >= 0 && cores <= kMaxCores)) {
    return Unexpected(option, text, "a number of cores, such as 4 or 0.5");
  }
  return static_cast<uint64_t>(std::llround(cores * 1000));
}

}  // namespace paceline
