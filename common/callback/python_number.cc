#include "common/callback/python_number.h"

#include <charconv>
#include <cmath>

namespace paceline {

std::string PythonNumber(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  const double magnitude = std::abs(number);
  const bool is_fixed =
      magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  // Enough for both: 17 digits, the sign, the point, and zeros or an exponent.
  char buffer[40];
  const auto end = std::to_chars(
      buffer, buffer + sizeof(buffer), number,
      is_fixed ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer, end.ptr);
  if (is_fixed && text.find('.') == std::string::npos) text += ".0";
  return text;
}

}  // namespace paceline
