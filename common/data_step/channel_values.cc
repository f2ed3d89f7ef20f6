#include "common/data_step/channel_values.h"

#include "common/base/status_macros.h"

namespace paceline {

absl::StatusOr<std::vector<float>> ChannelValues(absl::string_view key,
                                                 const ChannelNumbers& numbers,
                                                 const Shape& shape) {
  const int64_t channels = shape.empty() ? 1 : shape.back();
  RETURN_IF_ERROR(CheckChannelNumbers(key, numbers, channels, shape));
  std::vector<float> values(channels);
  for (int64_t c = 0; c < channels; ++c) {
    values[c] =
        static_cast<float>(numbers.values[numbers.values.size() == 1 ? 0 : c]);
  }
  return values;
}

}  // namespace paceline
