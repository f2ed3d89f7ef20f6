#include "common/base/option_text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"

namespace paceline {
namespace {

// Far above what any machine has, and far from the range of uint64.
constexpr double kMaxSizeBytes = 1e18;
// Of a label's key or value: what the coordinator takes.
constexpr size_t kMaxWordBytes = 253;

struct SizeUnit {
  absl::string_view name;
  double bytes;
};
constexpr SizeUnit kSizeUnits[] = {
    {"", 1},         {"B", 1},        {"KiB", 0x1p10}, {"MiB", 0x1p20},
    {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"kB", 1e3},     {"KB", 1e3},
    {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12}};

absl::Status UnexpectedText(absl::string_view option, absl::string_view text,
                            absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(option, ": \"", PeerText(text), "\"; expected ", expected));
}

bool IsLabelWord(absl::string_view text) {
  return !text.empty() && text.size() <= kMaxWordBytes &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isgraph(c); });
}

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
  return UnexpectedText(option, text, "a size such as 512MiB or 4GiB");
}

absl::StatusOr<std::pair<std::string, std::string>> ParseLabel(
    absl::string_view option, absl::string_view text) {
  const size_t equals = std::min(text.find('='), text.size());
  const absl::string_view key = text.substr(0, equals);
  const absl::string_view value =
      text.substr(std::min(equals + 1, text.size()));
  if (IsLabelWord(key) && IsLabelWord(value)) {
    return std::pair(std::string(key), std::string(value));
  }
  return UnexpectedText(option, text, "KEY=VALUE without spaces");
}

}  // namespace paceline
