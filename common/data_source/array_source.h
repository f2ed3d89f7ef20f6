// Examples in two arrays, kept in memory as they are stored.
#ifndef PACELINE_COMMON_DATA_SOURCE_ARRAY_SOURCE_H_
#define PACELINE_COMMON_DATA_SOURCE_ARRAY_SOURCE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/data_source/data_source.h"
#include "common/data_source/element.h"
#include "common/tensor/shape.h"

namespace paceline {

// An array, and its name in errors, which starts with the file's.
struct NamedArray {
  std::string name;
  StoredArray array;
};

// InvalidArgument, with both names, unless the arrays have as many examples.
// Each has at least one dimension, the first of which counts them.
absl::Status CheckSameCount(const std::string& features_name,
                            const Shape& features,
                            const std::string& labels_name,
                            const Shape& labels);

// The source has the name of its features. Errors are those of CheckSameCount.
absl::StatusOr<std::unique_ptr<const DataSource>> MakeArraySource(
    NamedArray features, NamedArray labels);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_ARRAY_SOURCE_H_
