// Every kind of data source.
//
// A source is one file, with the fields by which a job names it and how it
// opens, its line in CMakeLists.txt, and a line of the table in sources.cc.
#ifndef PACELINE_COMMON_DATA_SOURCE_SOURCES_H_
#define PACELINE_COMMON_DATA_SOURCE_SOURCES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/config/field_table.h"
#include "common/data_source/data_source.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// The fields of a data set that name its source, one for each kind, which
// exclude each other; and the kinds that are to come.
std::vector<Field<v1::Dataset>> SourceFields();

// "idx: {features: PATH, labels: PATH}", and so on of each kind, for errors.
std::string SourceExamples();

// What each kind of source takes.
std::vector<ClassReference> SourceReferences();

// Whether examples of the data set come one after the other, so that they
// cannot be shuffled.
bool IsStream(const v1::Dataset& dataset);

// Opens the source of a data set; paths are taken as they are. Errors name the
// file; InvalidArgument also if the source is unknown or malformed, since a
// peer may send any. Blocks while it reads.
absl::StatusOr<std::unique_ptr<const DataSource>> OpenDataSource(
    const v1::Dataset& dataset);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_SOURCES_H_
