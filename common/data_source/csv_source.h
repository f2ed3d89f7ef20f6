// A source with the rows of CSV files, which it reads as they are needed.
#ifndef PACELINE_COMMON_DATA_SOURCE_CSV_SOURCE_H_
#define PACELINE_COMMON_DATA_SOURCE_CSV_SOURCE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/config/by_name.h"
#include "common/config/field_table.h"
#include "common/data_source/csv_columns.h"
#include "common/data_source/data_source.h"
#include "common/data_source/source_files.h"

namespace paceline {

struct CsvSource {
  SourceFiles file;
  // nullopt: an array of all columns without labels and weights.
  std::optional<ByName<CsvColumns>> features;
  ByName<CsvColumns> labels;
  std::optional<ByName<CsvColumns>> sample_weight;
  // The names of classes, in the order of their ids, by the names of labels.
  std::optional<ByName<std::vector<std::string>>> classes;
  // The value of features that are missing.
  std::optional<double> missing;
  // What fields say, besides nothing, that are missing.
  std::vector<std::string> na;
  bool header = true;
  std::string delimiter = ",";
};

const FieldTable<CsvSource>& FieldsOf(const CsvSource*);

inline bool HasSampleWeight(const CsvSource& source) {
  return source.sample_weight.has_value();
}

// Reads the files once: finds their rows, and checks that each has the same
// number of fields. Keeps at most 8 MiB of offsets. What fields say is looked
// at when an example is read. Errors are those of csv_file.h and
// CsvColumnFinder.
absl::StatusOr<std::unique_ptr<const DataSource>> OpenCsvSource(
    const CsvSource& source, Contents contents = Contents::kFeaturesAndLabels);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_CSV_SOURCE_H_
