// The numbers of a config, one for each channel of an array.
#ifndef PACELINE_COMMON_DATA_STEP_CHANNEL_VALUES_H_
#define PACELINE_COMMON_DATA_STEP_CHANNEL_VALUES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/model/layers/channel_numbers.h"
#include "common/tensor/shape.h"

namespace paceline {

// One for each index along the last axis of `shape`. InvalidArgument names the
// field `key` if there are neither one number nor that many.
absl::StatusOr<std::vector<float>> ChannelValues(absl::string_view key,
                                                 const ChannelNumbers& numbers,
                                                 const Shape& shape);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_CHANNEL_VALUES_H_
