#include "common/model/axis_list.h"

#include "common/config/codec.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

absl::Status ReadConfig(const Value& value, const Path& path, AxisList& out) {
  if (value.is_list()) {
    return Codec<std::vector<int64_t>>::Read(value, path, out);
  }
  out = {0};
  return Codec<int64_t>::Read(value, path, out[0]);
}

Value WriteConfig(const AxisList& axes) {
  return axes.size() == 1 ? Value(axes[0])
                          : Codec<std::vector<int64_t>>::Write(axes);
}

Value WriteAsList(const AxisList& axes) {
  return Codec<std::vector<int64_t>>::Write(axes);
}

std::string ConfigType(const AxisList* /*axes*/) {
  return "integer or list of integers";
}

}  // namespace paceline
