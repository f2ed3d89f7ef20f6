// A stream of examples from stored arrays.
#ifndef PACELINE_COMMON_DATA_SOURCE_ARRAY_STREAM_H_
#define PACELINE_COMMON_DATA_SOURCE_ARRAY_STREAM_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/data_source/data_source.h"
#include "common/data_source/stored_rows.h"

namespace paceline {

// An array of examples. Its first dimension counts them.
struct ArrayToStream {
  // See ArraySpec.
  std::string name;
  std::string origin;
  // Called anew for each reader.
  std::function<absl::StatusOr<StoredRows>()> open;
};

// Opens the arrays, at least one of features, for their types and shapes.
// InvalidArgument names two arrays with different numbers of examples.
absl::StatusOr<std::unique_ptr<const DataSource>> OpenArrayStream(
    ByArray<ArrayToStream> arrays);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_ARRAY_STREAM_H_
