#include "common/data_source/common_count.h"

#include "absl/strings/str_format.h"

namespace paceline {

absl::Status CommonCount::Add(const std::string& origin, const Shape& shape) {
  const int64_t count = shape[0];
  if (count_ == 0) {
    first_ = origin;
    count_ = count;
  }
  if (count == count_) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s has %d examples, but %s has %d, expected the same number", first_,
      count_, origin, count));
}

}  // namespace paceline
