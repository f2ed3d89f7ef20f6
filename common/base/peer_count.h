// Numbers from other processes.
#ifndef PACELINE_COMMON_BASE_PEER_COUNT_H_
#define PACELINE_COMMON_BASE_PEER_COUNT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace paceline {

// `value` as a signed number. InvalidArgument, with the name of the field, if
// it is larger than `most`.
inline absl::StatusOr<int64_t> ReadCount(absl::string_view field,
                                         uint64_t value, int64_t most) {
  if (value > static_cast<uint64_t>(most)) {
    return absl::InvalidArgumentError(absl::StrCat(
        field, ": ", value, "; expected a whole number from 0 to ", most));
  }
  return static_cast<int64_t>(value);
}

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_PEER_COUNT_H_
