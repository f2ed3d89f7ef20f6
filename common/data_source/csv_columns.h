// How a job names the columns of CSV files.
#ifndef PACELINE_COMMON_DATA_SOURCE_CSV_COLUMNS_H_
#define PACELINE_COMMON_DATA_SOURCE_CSV_COLUMNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "common/data_source/csv_file.h"

namespace paceline {

// By name or, in files without a header, by number.
struct CsvColumn {
  std::string name;
  // From 0; negative: it has a name.
  int64_t number = -1;

  bool has_number() const { return number >= 0; }
};

// A column, or a list of columns, whose values are an array.
struct CsvColumns {
  // At least one.
  std::vector<CsvColumn> columns;
  bool is_list = false;
};

absl::Status ReadConfig(const Value& value, const Path& path, CsvColumns& out);
Value WriteConfig(const CsvColumns& columns);
std::string ConfigType(const CsvColumns*);

// Finds the columns of a file, which must outlive it.
class CsvColumnFinder {
 public:
  explicit CsvColumnFinder(const CsvFile& file);

  // The index of a column. NotFound: there is none; InvalidArgument: there are
  // several of that name. Errors name the file.
  absl::StatusOr<int64_t> Find(const CsvColumn& column) const;

 private:
  // Of a name that several columns have.
  static constexpr int64_t kSeveral = -1;

  const CsvFile& file_;
  absl::flat_hash_map<absl::string_view, int64_t> by_name_;
};

// For errors: `column "species"`, or `column 4` without a header.
std::string DescribeColumn(const CsvFile& file, int64_t column);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_CSV_COLUMNS_H_
