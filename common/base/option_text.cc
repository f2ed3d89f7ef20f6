#include "common/base/option_text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "common/base/names.h"
#include "common/base/unexpected_value.h"

namespace paceline {
namespace {

// Far above what any machine has, and far from the range of uint64.
constexpr double kMaxSizeBytes = 1e18;
// Far above what the coordinator accepts, and far from the range of uint64.
constexpr double kMaxCores = 1e9;
constexpr int64_t kMaxDays = 100'000;

struct SizeUnit {
  absl::string_view name;
  double bytes;
};
constexpr SizeUnit kSizeUnits[] = {
    {"", 1},         {"B", 1},        {"KiB", 0x1p10}, {"MiB", 0x1p20},
    {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"kB", 1e3},     {"KB", 1e3},
    {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12}};

}  // namespace

absl::StatusOr<uint64_t> ParseSize(absl::string_view option,
                                   absl::string_view text) {
  const size_t end = text.find_first_not_of("0123456789.");
  const absl::string_view number = text.substr(0, end);
  const absl::string_view unit = absl::StripAsciiWhitespace(
      end == text.npos ? absl::string_view() : text.substr(end));
  double value = 0;
  if (absl::SimpleAtod(number, &value)) {
    for (const SizeUnit& each : kSizeUnits) {
      if (each.name != unit || value * each.bytes > kMaxSizeBytes) continue;
      return static_cast<uint64_t>(std::llround(value * each.bytes));
    }
  }
  return UnexpectedValue(option, text, "a size such as 512MiB or 4GiB");
}

absl::StatusOr<absl::Duration> ParseDuration(absl::string_view option,
                                             absl::string_view text) {
  const absl::Status error = UnexpectedValue(
      option, text, "a duration above 0, such as 90s, 1h30m or 2d");
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

absl::StatusOr<uint64_t> ParseCores(absl::string_view option,
                                    absl::string_view text) {
  double cores = 0;
  if (!absl::SimpleAtod(text, &cores) || !(cores >= 0 && cores <= kMaxCores)) {
    return UnexpectedValue(option, text, "a number of cores, such as 4 or 0.5");
  }
  return static_cast<uint64_t>(std::llround(cores * 1000));
}

absl::StatusOr<std::pair<std::string, std::string>> ParseLabel(
    absl::string_view option, absl::string_view text) {
  const size_t equals = std::min(text.find('='), text.size());
  const absl::string_view key = text.substr(0, equals);
  const absl::string_view value =
      text.substr(std::min(equals + 1, text.size()));
  if (IsVisibleAscii(key) && IsVisibleAscii(value)) {
    return std::pair(std::string(key), std::string(value));
  }
  return UnexpectedValue(option, text, "KEY=VALUE without spaces");
}

}  // namespace paceline
