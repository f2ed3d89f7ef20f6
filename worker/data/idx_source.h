// Examples in a pair of IDX files, kept in memory as they are stored.
#ifndef PACELINE_WORKER_DATA_IDX_SOURCE_H_
#define PACELINE_WORKER_DATA_IDX_SOURCE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "paceline/v1/job.pb.h"
#include "worker/data/data_source.h"

namespace paceline {

// Reads both files. Beside the errors of idx.h, InvalidArgument if the files
// differ in their number of examples.
absl::StatusOr<std::unique_ptr<const DataSource>> OpenIdxSource(
    const v1::IdxSource& files);

// The number of examples by the headers of both files.
absl::StatusOr<int64_t> CountIdxExamples(const v1::IdxSource& files);

}  // namespace paceline

#endif  // PACELINE_WORKER_DATA_IDX_SOURCE_H_
