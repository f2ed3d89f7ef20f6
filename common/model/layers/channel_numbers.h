// Numbers of a config that channels share, or have one each.
#ifndef PACELINE_COMMON_MODEL_LAYERS_CHANNEL_NUMBERS_H_
#define PACELINE_COMMON_MODEL_LAYERS_CHANNEL_NUMBERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/config/codec.h"
#include "common/tensor/shape.h"

namespace paceline {

// One number, or one per channel. A list of one is written as the number.
struct ChannelNumbers {
  std::vector<double> values;
};

absl::Status ReadConfig(const Value& value, const Path& path,
                        ChannelNumbers& out);
Value WriteConfig(const ChannelNumbers& m);
std::string ConfigType(const ChannelNumbers* type);

// InvalidArgument unless there is one number, or one for each of the `channels`
// of the input. `key` is the name of the field.
absl::Status CheckChannelNumbers(absl::string_view key,
                                 const ChannelNumbers& numbers,
                                 int64_t channels, const Shape& input);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_CHANNEL_NUMBERS_H_
