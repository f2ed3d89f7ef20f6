#include "coordinator/cli/service/units.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace paceline {

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

}  // namespace paceline
