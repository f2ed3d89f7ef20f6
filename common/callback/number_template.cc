#include "common/callback/number_template.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "common/callback/python_number.h"

namespace paceline {
namespace {

// No file has a longer name.
constexpr int kMaxWidth = 255;
// As Python's. Digits after these say nothing.
constexpr int kDefaultPrecision = 6;
constexpr int kMaxPrecision = 100;

struct NumberFormat {
  char fill = ' ';
  // One of < > ^ and =, which fills between the sign and the digits.
  char align = '>';
  // One of + - and a space.
  char sign = '-';
  int width = 0;
  std::optional<int> precision;
  // '\0': none.
  char type = '\0';
};

bool IsOneOf(char c, absl::string_view set) {
  return absl::StrContains(set, c);
}

// Takes the digits at the start of `text`; nullopt if there are none, or the
// number is above `most`.
std::optional<int> TakeNumber(absl::string_view& text, int most) {
  size_t size = 0;
  while (size < text.size() && absl::ascii_isdigit(text[size])) ++size;
  int number = 0;
  if (!absl::SimpleAtoi(text.substr(0, size), &number) || number > most) {
    return std::nullopt;
  }
  text.remove_prefix(size);
  return number;
}

// nullopt if `text` has something else than the parts of a format.
std::optional<NumberFormat> ParseFormat(absl::string_view text) {
  constexpr absl::string_view kAligns = "<>^=";
  NumberFormat format;
  bool has_fill = false;
  bool has_align = false;
  if (text.size() >= 2 && IsOneOf(text[1], kAligns)) {
    has_fill = has_align = true;
    format.fill = text[0];
    format.align = text[1];
    text.remove_prefix(2);
  } else if (!text.empty() && IsOneOf(text[0], kAligns)) {
    has_align = true;
    format.align = text[0];
    text.remove_prefix(1);
  }
  if (!text.empty() && IsOneOf(text[0], "+- ")) {
    format.sign = text[0];
    text.remove_prefix(1);
  }
  if (!has_fill && !text.empty() && text[0] == '0') {
    format.fill = '0';
    if (!has_align) format.align = '=';
    text.remove_prefix(1);
  }
  if (!text.empty() && absl::ascii_isdigit(text[0])) {
    const std::optional<int> width = TakeNumber(text, kMaxWidth);
    if (!width) return std::nullopt;
    format.width = *width;
  }
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    format.precision = TakeNumber(text, kMaxPrecision);
    if (!format.precision) return std::nullopt;
  }
  if (!text.empty() && IsOneOf(text[0], "deEfFgG%")) {
    format.type = text[0];
    text.remove_prefix(1);
  }
  if (!text.empty()) return std::nullopt;
  return format;
}

// The digits of a number that is not negative.
std::string Digits(double number, const NumberFormat& format) {
  const char type = format.type == '%' ? 'f' : format.type;
  std::string digits;
  if (!std::isfinite(number)) {
    digits = std::isnan(number) ? "nan" : "inf";
    if (absl::ascii_isupper(type)) digits = absl::AsciiStrToUpper(digits);
  } else {
    const double shown = format.type == '%' ? number * 100 : number;
    const int precision = format.precision.value_or(kDefaultPrecision);
    switch (absl::ascii_tolower(type)) {
      case 'e':
        digits = absl::StrFormat("%.*e", precision, shown);
        break;
      case 'f':
        digits = absl::StrFormat("%.*f", precision, shown);
        break;
      default:
        digits = absl::StrFormat("%.*g", precision, shown);
    }
    if (absl::ascii_isupper(type)) digits = absl::AsciiStrToUpper(digits);
  }
  if (format.type == '%') digits.push_back('%');
  return digits;
}

std::string Pad(const std::string& sign, const std::string& digits,
                const NumberFormat& format) {
  const size_t size = sign.size() + digits.size();
  const auto width = static_cast<size_t>(format.width);
  if (size >= width) return sign + digits;
  const auto fill = [&](size_t count) {
    return std::string(count, format.fill);
  };
  const size_t missing = width - size;
  switch (format.align) {
    case '<':
      return absl::StrCat(sign, digits, fill(missing));
    case '^':
      return absl::StrCat(fill(missing / 2), sign, digits,
                          fill(missing - missing / 2));
    case '=':
      return absl::StrCat(sign, fill(missing), digits);
    default:
      return absl::StrCat(fill(missing), sign, digits);
  }
}

// nullopt if the format is not one of such a number.
std::optional<std::string> FormatNumber(TemplateNumber number,
                                        const NumberFormat& format) {
  const auto* const whole = std::get_if<int64_t>(&number);
  const bool is_whole = format.type == 'd' || format.type == '\0';
  const bool has_precision = format.precision.has_value();
  bool is_negative = false;
  std::string digits;
  if (whole != nullptr && is_whole) {
    if (has_precision) return std::nullopt;
    is_negative = *whole < 0;
    digits = absl::StrCat(*whole);
    if (is_negative) digits.erase(0, 1);
  } else {
    const double value = whole != nullptr ? static_cast<double>(*whole)
                                          : std::get<double>(number);
    is_negative = std::signbit(value) && !std::isnan(value);
    if (!is_whole) {
      digits = Digits(std::abs(value), format);
    } else if (format.type == 'd' || has_precision) {
      return std::nullopt;
    } else {
      digits = PythonNumber(std::abs(value));
    }
  }
  std::string sign;
  if (is_negative) {
    sign = "-";
  } else if (format.sign != '-') {
    sign = std::string(1, format.sign);
  }
  return Pad(sign, digits, format);
}

// `field`: the text between the braces.
absl::StatusOr<std::string> FormatField(absl::string_view field,
                                        const TemplateNumbers& numbers) {
  const size_t colon = field.find(':');
  const absl::string_view name = field.substr(0, colon);
  const std::optional<TemplateNumber> number = numbers(name);
  if (!number) {
    return absl::InvalidArgumentError(
        absl::StrCat("{", field, "}: there is no value of this name"));
  }
  const std::optional<NumberFormat> format = ParseFormat(
      colon == absl::string_view::npos ? "" : field.substr(colon + 1));
  std::optional<std::string> text;
  if (format) text = FormatNumber(*number, *format);
  if (text) return *std::move(text);
  const bool is_whole = std::holds_alternative<int64_t>(*number);
  return absl::InvalidArgumentError(
      absl::StrCat("{", field, "}: unknown format; expected one such as {",
                   name, is_whole ? ":02d}" : ":.2f}"));
}

}  // namespace

absl::StatusOr<std::string> FormatTemplate(absl::string_view text,
                                           const TemplateNumbers& numbers) {
  std::string result;
  while (!text.empty()) {
    const char c = text[0];
    const bool is_brace = c == '{' || c == '}';
    if (!is_brace || (text.size() > 1 && text[1] == c)) {
      result.push_back(c);
      text.remove_prefix(is_brace ? 2 : 1);
      continue;
    }
    const size_t end = text.find('}');
    if (c == '}' || end == absl::string_view::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("a single ", std::string(1, c),
                       "; expected {name}, {name:format}, {{ or }}"));
    }
    ASSIGN_OR_RETURN(const std::string number,
                     FormatField(text.substr(1, end - 1), numbers));
    result += number;
    text.remove_prefix(end + 1);
  }
  return result;
}

}  // namespace paceline
