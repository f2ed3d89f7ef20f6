// A source of features alone, from a single file.
#ifndef PACELINE_COMMON_DATA_SOURCE_FEATURE_FILE_H_
#define PACELINE_COMMON_DATA_SOURCE_FEATURE_FILE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/data_source/data_source.h"

namespace paceline {

// Reads a file of features of shape [examples, ...] for a model with one input.
// The suffix tells the format: a NumPy array (`.npy`), a NumPy archive (`.npz`)
// whose array `x` it takes, CSV (`.csv`) with a header and all of its columns
// in their order, else IDX; the first and the last also with `.gz`. Errors name
// the file. Holds no examples in memory, and reads them in order.
absl::StatusOr<std::unique_ptr<const DataSource>> OpenFeatureFile(
    const std::string& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_FEATURE_FILE_H_
