#include "common/data_step/value_range.h"

#include <vector>

#include "common/base/status_macros.h"
#include "common/config/codec.h"

namespace paceline {

absl::Status ReadConfig(const Value& value, const Path& path, ValueRange& out) {
  if (!value.is_list() || value.as_list().size() != 2) {
    return WrongType(value, path, ConfigType(&out));
  }
  std::vector<double> pair;
  RETURN_IF_ERROR(Codec<std::vector<double>>::Read(value, path, pair));
  if (pair[0] > pair[1]) return WrongType(value, path, ConfigType(&out));
  out = {pair[0], pair[1]};
  return absl::OkStatus();
}

Value WriteConfig(const ValueRange& range) {
  return Value::List{range.low, range.high};
}

std::string ConfigType(const ValueRange* /*type*/) {
  return "pair of numbers, the least first";
}

}  // namespace paceline
