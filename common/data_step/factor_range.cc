#include "common/data_step/factor_range.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/base/status_macros.h"
#include "common/config/codec.h"

namespace paceline {

absl::Status ReadConfig(const Value& value, const Path& path,
                        FactorRange& out) {
  if (value.is_number()) {
    double factor = 0;
    RETURN_IF_ERROR(Codec<double>::Read(value, path, factor));
    out = {-std::abs(factor), std::abs(factor)};
    return absl::OkStatus();
  }
  if (!value.is_list() || value.as_list().size() != 2) {
    return WrongType(value, path, ConfigType(&out));
  }
  std::vector<double> pair;
  RETURN_IF_ERROR(Codec<std::vector<double>>::Read(value, path, pair));
  out = {std::min(pair[0], pair[1]), std::max(pair[0], pair[1])};
  return absl::OkStatus();
}

Value WriteConfig(const FactorRange& range) {
  if (range.low == -range.high) return range.high;
  return Value::List{range.low, range.high};
}

std::string ConfigType(const FactorRange* /*type*/) {
  return "number or pair of numbers";
}

}  // namespace paceline
