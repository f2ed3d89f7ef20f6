#include "common/model/layers/channel_numbers.h"

#include "absl/strings/str_cat.h"

namespace paceline {

absl::Status ReadConfig(const Value& value, const Path& path,
                        ChannelNumbers& out) {
  if (value.is_list()) {
    return Codec<std::vector<double>>::Read(value, path, out.values);
  }
  out.values = {0};
  return Codec<double>::Read(value, path, out.values[0]);
}

Value WriteConfig(const ChannelNumbers& m) {
  return m.values.size() == 1 ? Value(m.values[0])
                              : Codec<std::vector<double>>::Write(m.values);
}

std::string ConfigType(const ChannelNumbers* /*type*/) {
  return "number, or list of numbers";
}

absl::Status CheckChannelNumbers(absl::string_view key,
                                 const ChannelNumbers& numbers,
                                 int64_t channels, const Shape& input) {
  const auto count = static_cast<int64_t>(numbers.values.size());
  if (count == 1 || count == channels) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      key, " must be one number, or one for each of the ", channels,
      " channels of input shape ", ShapeToString(input), "; got ", count));
}

}  // namespace paceline
