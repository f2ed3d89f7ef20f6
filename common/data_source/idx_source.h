// Examples in a pair of IDX files, kept in memory as they are stored.
#ifndef PACELINE_COMMON_DATA_SOURCE_IDX_SOURCE_H_
#define PACELINE_COMMON_DATA_SOURCE_IDX_SOURCE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "common/data_source/data_source.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Reads both files. Beside the errors of idx.h, InvalidArgument if the files
// differ in their number of examples.
absl::StatusOr<std::unique_ptr<const DataSource>> OpenIdxSource(
    const v1::IdxSource& files);

// The number of examples by the headers of both files.
absl::StatusOr<int64_t> CountIdxExamples(const v1::IdxSource& files);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_IDX_SOURCE_H_
