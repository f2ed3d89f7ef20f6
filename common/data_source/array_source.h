// Examples in arrays, kept in memory as they are stored.
#ifndef PACELINE_COMMON_DATA_SOURCE_ARRAY_SOURCE_H_
#define PACELINE_COMMON_DATA_SOURCE_ARRAY_SOURCE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/data_source/data_source.h"
#include "common/data_source/element.h"
#include "common/tensor/shape.h"

namespace paceline {

// An array of examples that is yet to be read. The first of its dimensions, of
// which it has one at least, counts the examples.
struct ArrayToRead {
  // As ArraySpec has them.
  std::string name;
  std::string origin;
  // Reads what the file says of the array, however large that is.
  std::function<absl::StatusOr<Shape>()> read_shape;
  std::function<absl::StatusOr<StoredArray>()> read;
};

// Reads the arrays, at least one of each, unless they differ in their numbers
// of examples: InvalidArgument names two that do.
absl::StatusOr<std::unique_ptr<const DataSource>> ReadArraySource(
    const std::vector<ArrayToRead>& features,
    const std::vector<ArrayToRead>& labels);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_ARRAY_SOURCE_H_
