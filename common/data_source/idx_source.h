// A source with one IDX file per array.
#ifndef PACELINE_COMMON_DATA_SOURCE_IDX_SOURCE_H_
#define PACELINE_COMMON_DATA_SOURCE_IDX_SOURCE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "common/config/field_table.h"
#include "common/data_source/data_source.h"
#include "paceline/v1/job.pb.h"

namespace paceline::v1 {

const FieldTable<IdxSource>& FieldsOf(const IdxSource*);

}  // namespace paceline::v1

namespace paceline {

bool IsIdxStream(const v1::IdxSource& source);
bool HasSampleWeight(const v1::IdxSource& source);

// Reads the files; for a stream, their headers. Errors are those of idx.h, and
// InvalidArgument if the numbers of examples differ.
absl::StatusOr<std::unique_ptr<const DataSource>> OpenIdxSource(
    const v1::IdxSource& source,
    Contents contents = Contents::kFeaturesAndLabels);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_IDX_SOURCE_H_
