// A source whose examples are in arrays, in their stored types.
#ifndef PACELINE_COMMON_DATA_SOURCE_ARRAY_SOURCE_H_
#define PACELINE_COMMON_DATA_SOURCE_ARRAY_SOURCE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/data_source/array_values.h"
#include "common/data_source/data_source.h"
#include "common/tensor/shape.h"

namespace paceline {

// An array of examples that has not been opened yet. Its first dimension, which
// must exist, counts the examples.
struct ArrayToOpen {
  // See ArraySpec.
  std::string name;
  std::string origin;
  // Reads the shape from the file's header, without reading the values.
  std::function<absl::StatusOr<Shape>()> read_shape;
  std::function<absl::StatusOr<ArrayValues>()> open;
};

// Opens the arrays, at least one of features. InvalidArgument, before reading
// any values, names two arrays with different numbers of examples.
absl::StatusOr<std::unique_ptr<const DataSource>> OpenArraySource(
    const ByArray<ArrayToOpen>& arrays);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_ARRAY_SOURCE_H_
