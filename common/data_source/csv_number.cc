#include "common/data_source/csv_number.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace paceline {
namespace {

// Whole numbers of 15 digits, and these powers, are doubles; so their quotient
// is rounded once.
constexpr size_t kMaxDigits = 15;
constexpr double kPowersOf10[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

absl::string_view WithoutBlanks(absl::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Appends the digits at `at` to `number`, and returns their end.
const char* ReadDigits(const char* at, const char* end, uint64_t& number) {
  for (; at != end && absl::ascii_isdigit(static_cast<unsigned char>(*at));
       ++at) {
    number = 10 * number + static_cast<uint64_t>(*at - '0');
  }
  return at;
}

}  // namespace

std::optional<double> ParseCsvNumber(absl::string_view text) {
  text = WithoutBlanks(text);
  if (absl::ConsumePrefix(&text, "+") && absl::StartsWith(text, "-")) {
    return std::nullopt;
  }
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (stop != end || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // Rounds what is too close to 0.
    if (!absl::SimpleAtod(text, &number)) return std::nullopt;
  }
  const bool is_float32 =
      std::abs(number) <= std::numeric_limits<float>::max();  // NaN is not.
  return is_float32 ? std::optional(number) : std::nullopt;
}

size_t ReadShortNumber(absl::string_view text, double& number) {
  const char* const end = text.data() + text.size();
  const bool is_negative = !text.empty() && text[0] == '-';
  const char* const begin = text.data() + (is_negative ? 1 : 0);
  uint64_t digits = 0;
  const char* at = ReadDigits(begin, end, digits);
  auto digit_count = static_cast<size_t>(at - begin);
  size_t decimals = 0;
  if (at != end && *at == '.') {
    const char* const point = at++;
    at = ReadDigits(at, end, digits);
    decimals = static_cast<size_t>(at - point) - 1;
    digit_count += decimals;
  }
  if (digit_count == 0 || digit_count > kMaxDigits) return 0;
  number = static_cast<double>(digits);
  if (decimals > 0) number /= kPowersOf10[decimals];
  if (is_negative) number = -number;
  return static_cast<size_t>(at - text.data());
}

}  // namespace paceline
