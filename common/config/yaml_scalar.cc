// Scalars by the core schema of YAML 1.2.2, section 10.3.2.
#include <charconv>
#include <limits>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "common/config/yaml_reader.h"

namespace paceline {
namespace {

// Removes the digits at the start of `text`; false if there are none.
bool TakeDigits(absl::string_view& text) {
  const size_t before = text.size();
  while (!text.empty() && absl::ascii_isdigit(text[0])) text.remove_prefix(1);
  return text.size() < before;
}

void TakeSign(absl::string_view& text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    text.remove_prefix(1);
  }
}

// [-+]?[0-9]+
bool IsDecimal(absl::string_view text) {
  TakeSign(text);
  return TakeDigits(text) && text.empty();
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool IsFloat(absl::string_view text) {
  TakeSign(text);
  const bool has_whole = TakeDigits(text);
  const bool has_fraction = absl::ConsumePrefix(&text, ".") && TakeDigits(text);
  if (!has_whole && !has_fraction) return false;
  if (absl::ConsumePrefix(&text, "e") || absl::ConsumePrefix(&text, "E")) {
    TakeSign(text);
    if (!TakeDigits(text)) return false;
  }
  return text.empty();
}

// Parses all of `text` as digits in the given base.
bool ReadDigits(absl::string_view text, int base, int64_t& out) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out, base);
  return error == std::errc() && stop == end && text[0] != '-';
}

// Parses 0o17 and 0x1F.
bool ReadPrefixed(absl::string_view text, int64_t& out) {
  if (absl::ConsumePrefix(&text, "0x")) return ReadDigits(text, 16, out);
  if (absl::ConsumePrefix(&text, "0o")) return ReadDigits(text, 8, out);
  return false;
}

}  // namespace

Value ResolvePlainScalar(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" ||
      text == "NULL") {
    return nullptr;
  }
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  int64_t whole = 0;
  if (IsDecimal(text) && absl::SimpleAtoi(text, &whole)) return whole;
  if (ReadPrefixed(text, whole)) return whole;
  double number = 0;
  if (IsFloat(text) && absl::SimpleAtod(text, &number)) return number;
  absl::string_view unsigned_text = text;
  TakeSign(unsigned_text);
  if (unsigned_text == ".inf" || unsigned_text == ".Inf" ||
      unsigned_text == ".INF") {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return text[0] == '-' ? -kInfinity : kInfinity;
  }
  if (text == ".nan" || text == ".NaN" || text == ".NAN") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return text;
}

}  // namespace paceline
