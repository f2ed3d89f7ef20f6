#include "common/base/size_text.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/strings/str_format.h"

namespace paceline {

std::string SizeText(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B",   "KiB", "MiB", "GiB",
                                    "TiB", "PiB", "EiB"};
  // From here on, four digits would show 1024 of the unit.
  constexpr double kNextUnit = 1023.5;
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= kNextUnit && unit + 1 < std::size(kUnits)) {
    value = std::max(1.0, value / 1024);
    ++unit;
  }
  return absl::StrFormat("%.4g %s", value, kUnits[unit]);
}

}  // namespace paceline
