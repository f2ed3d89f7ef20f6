#include "common/model/output_name.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace paceline {

std::string NameOfOutput(absl::string_view layer, int output) {
  return output == 0 ? std::string(layer) : absl::StrCat(layer, ":", output);
}

OutputName ParseOutputName(absl::string_view name) {
  const size_t colon = name.rfind(':');
  if (colon == absl::string_view::npos) return {name};
  const absl::string_view digits = name.substr(colon + 1);
  int output = 0;
  if (!std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit) ||
      !absl::SimpleAtoi(digits, &output)) {
    return {name};
  }
  return {name.substr(0, colon), output};
}

}  // namespace paceline
