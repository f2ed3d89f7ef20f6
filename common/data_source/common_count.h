// How many examples a source has, if its arrays agree.
#ifndef PACELINE_COMMON_DATA_SOURCE_COMMON_COUNT_H_
#define PACELINE_COMMON_DATA_SOURCE_COMMON_COUNT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "common/tensor/shape.h"

namespace paceline {

class CommonCount {
 public:
  // `shape` is that of a whole array, of one dimension at least, the first of
  // which counts its examples. InvalidArgument names this array and the first
  // one if they differ in their numbers of examples.
  absl::Status Add(const std::string& origin, const Shape& shape);

  // Of each array that was added.
  int64_t count() const { return count_; }

 private:
  std::string first_;
  int64_t count_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_COMMON_COUNT_H_
