// What of the rows of CSV files is in an example.
#ifndef PACELINE_COMMON_DATA_SOURCE_CSV_LAYOUT_H_
#define PACELINE_COMMON_DATA_SOURCE_CSV_LAYOUT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/data_source/csv_decoder.h"
#include "common/data_source/csv_file.h"
#include "common/data_source/csv_source.h"
#include "common/data_source/data_source.h"

namespace paceline {

struct CsvLayout {
  // All arrays are kFloat64.
  ExampleSpec spec;
  // The values of all arrays: features, labels, weights.
  std::vector<CsvValue> values;
  // Of arrays of labels, by their names; "": of all others.
  std::map<std::string, CsvClasses> classes;

  // Null: labels are numbers.
  const CsvClasses* ClassesOf(const std::string& labels) const;
};

// Finds the columns that the job names. Errors are those of CsvColumnFinder;
// InvalidArgument if no columns are left for features.
absl::StatusOr<CsvLayout> MakeCsvLayout(const CsvSource& source,
                                        const CsvFile& file, Contents contents);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_CSV_LAYOUT_H_
