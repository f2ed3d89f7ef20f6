// A source that reads IDX files sequentially as examples are needed, so that
// they need not fit into memory.
#ifndef PACELINE_COMMON_DATA_SOURCE_IDX_STREAM_H_
#define PACELINE_COMMON_DATA_SOURCE_IDX_STREAM_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/data_source/data_source.h"

namespace paceline {

// Reads the headers of the files, which are the origins in `spec`, and fills in
// types and shapes. Errors are those of idx.h, and InvalidArgument if the
// numbers of examples differ.
absl::StatusOr<std::unique_ptr<const DataSource>> OpenIdxStream(
    ExampleSpec spec);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_IDX_STREAM_H_
