// The registry of data sources.
//
// A kind of source is one file, with its fields in a job and a function to open
// it; a line in CMakeLists.txt; and a line in the table in sources.cc.
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

// The fields of a data set that select its source, one per kind, which exclude
// each other; and kinds that are not supported yet.
std::vector<Field<v1::Dataset>> SourceFields();

// "idx: {features: PATH, labels: PATH}", and so on for each kind; for errors.
std::string SourceExamples();

// The references of all kinds of sources.
std::vector<ClassReference> SourceReferences();

// What the data set says of its source alone: not of steps, order, and so on.
v1::Dataset SourceOnly(const v1::Dataset& dataset);

// Whether the data set is read sequentially, so that it cannot be shuffled.
bool IsStream(const v1::Dataset& dataset);

// Whether the source says that all examples of a class come before those of the
// next, so that what is taken from the end has the last classes alone.
bool IsInOrderOfClasses(const v1::Dataset& dataset);

// Whether the data set says how much each example counts.
bool HasSampleWeight(const v1::Dataset& dataset);

// Visits the paths of the files that OpenDataSource reads for `contents`, which
// `visit` may change. `path`: of the data set in the job.
void VisitSourceFiles(v1::Dataset& dataset, Contents contents, const Path& path,
                      FileVisitor visit);

// Opens the source of a data set. Does not change paths. Errors name the file;
// InvalidArgument also if the source is unknown or malformed, since a peer may
// have sent it. Blocks while it reads.
absl::StatusOr<std::unique_ptr<const DataSource>> OpenDataSource(
    const v1::Dataset& dataset,
    Contents contents = Contents::kFeaturesAndLabels);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_SOURCES_H_
