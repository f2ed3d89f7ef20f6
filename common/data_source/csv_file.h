// A CSV file (csv_text.h): what its columns are called, and where its rows
// begin.
//
// Errors start with the path and the line. InvalidArgument: the file is
// malformed. Others are those of StableFile.
#ifndef PACELINE_COMMON_DATA_SOURCE_CSV_FILE_H_
#define PACELINE_COMMON_DATA_SOURCE_CSV_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/row_offsets.h"
#include "common/base/stable_file.h"
#include "common/data_source/csv_window.h"

namespace paceline {

// A row with its line end, in bytes: far more than numbers take, and little
// enough for a file that is no CSV to be refused at once.
inline constexpr int64_t kMaxCsvRowBytes = 1 << 20;

struct CsvFormat {
  char delimiter = ',';
  // Whether the first row has the names of the columns.
  bool has_header = true;
};

class CsvFile;

// Where a reader of rows stands.
struct CsvCursor {
  CsvWindow window;
  // Null: nowhere.
  const CsvFile* file = nullptr;
  // The row of `file` at which `window` stands.
  int64_t next_row = 0;
};

// Immutable; thread-safe.
class CsvFile {
 public:
  // Reads the file once, and checks that it has rows, all with the same number
  // of fields. An UTF-8 byte order mark in front is no part of it, nor are
  // empty lines at its end. Keeps the offsets of at most `max_offsets` rows.
  static absl::StatusOr<CsvFile> Open(const std::string& path,
                                      const CsvFormat& format,
                                      size_t max_offsets);

  const std::string& path() const { return file_.path(); }

  // In their order; empty without a header. May repeat.
  const std::vector<std::string>& column_names() const { return *names_; }
  // Holds the names together with another file, which has the same.
  void ShareNames(const CsvFile& other) { names_ = other.names_; }
  int64_t column_count() const { return column_count_; }

  // Without the header; at least 1.
  int64_t row_count() const { return offsets_.row_count(); }

  // Size of the longest row with its line end.
  int64_t max_row_bytes() const { return max_row_bytes_; }

  // Row `row`, valid until the cursor is used again. The row behind that of the
  // last call is the fastest to read. The cursor's window must be for rows of
  // max_row_bytes(). Allocates no memory.
  absl::StatusOr<absl::string_view> ReadRow(int64_t row,
                                            CsvCursor& cursor) const;

  // The line on which a row begins, from 1. Reads the file up to there if rows
  // may have several lines.
  absl::StatusOr<int64_t> LineOf(int64_t row) const;

  // The error with path and line of a row.
  absl::Status Locate(const absl::Status& error, int64_t row) const;

 private:
  CsvFile(StableFile file, const CsvFormat& format, size_t max_offsets)
      : file_(std::move(file)), format_(format), offsets_(max_offsets) {}

  // Offset of the first row, behind a byte order mark.
  absl::StatusOr<int64_t> FindStart() const;
  absl::Status Scan();
  absl::Status ReadHeader(const CsvRow& row);
  // The line of the next row is `line`.
  absl::Status ScanRows(CsvWindow& window, int64_t line);
  absl::Status CheckFieldCount(const CsvRow& row) const;

  StableFile file_;
  CsvFormat format_;
  RowOffsets offsets_;
  std::shared_ptr<const std::vector<std::string>> names_ =
      std::make_shared<std::vector<std::string>>();
  int64_t column_count_ = 0;
  int64_t max_row_bytes_ = 0;
  // Line of the first row, from 1.
  int64_t first_line_ = 1;
  // Whether rows may have several lines.
  bool has_long_rows_ = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_CSV_FILE_H_
