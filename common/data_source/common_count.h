// The common number of examples in a source's arrays.
#ifndef PACELINE_COMMON_DATA_SOURCE_COMMON_COUNT_H_
#define PACELINE_COMMON_DATA_SOURCE_COMMON_COUNT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "common/tensor/shape.h"

namespace paceline {

class CommonCount {
 public:
  // `shape` is that of the whole array; its first dimension, which must exist,
  // counts the examples. InvalidArgument names this array and the first one if
  // their numbers of examples differ.
  absl::Status Add(const std::string& origin, const Shape& shape);

  // Examples in each of the added arrays.
  int64_t count() const { return count_; }

 private:
  std::string first_;
  int64_t count_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_COMMON_COUNT_H_
