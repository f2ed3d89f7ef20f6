#include "common/data_source/csv_file.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/data_source/csv_text.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// The error with the path and the line, unless it is one of the file, which has
// the path.
absl::Status AtLine(const absl::Status& error, const std::string& path,
                    int64_t line) {
  if (!absl::IsInvalidArgument(error)) return error;
  return Annotate(error, absl::StrCat(path, ": line ", line));
}

struct Magic {
  absl::string_view bytes;
  const char* name;
};

// What begins like this is no text.
constexpr Magic kMagics[] = {{"\x1f\x8b", "compressed with gzip"},
                             {"PK\x03\x04", "a zip archive or a workbook"},
                             {"\xff\xfe", "UTF-16"},
                             {"\xfe\xff", "UTF-16"}};

constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";

// The clock of a file system may tick too slowly for StableFile to notice.
absl::Status HasChanged(const std::string& path) {
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": has other rows than when the job opened it"));
}

}  // namespace

absl::StatusOr<CsvFile> CsvFile::Open(const std::string& path,
                                      const CsvFormat& format,
                                      size_t max_offsets) {
  ASSIGN_OR_RETURN(StableFile opened, StableFile::Open(path));
  CsvFile file(std::move(opened), format, max_offsets);
  RETURN_IF_ERROR(file.Scan());
  return file;
}

absl::StatusOr<int64_t> CsvFile::FindStart() const {
  char bytes[4] = {};
  const int64_t size = std::min<int64_t>(sizeof(bytes), file_.size_bytes());
  RETURN_IF_ERROR(file_.ReadAt(0, bytes, size));
  const absl::string_view start(bytes, static_cast<size_t>(size));
  for (const Magic& magic : kMagics) {
    if (absl::StartsWith(start, magic.bytes)) {
      return absl::InvalidArgumentError(absl::StrCat(
          path(), ": is ", magic.name, ", expected CSV as plain text"));
    }
  }
  return absl::StartsWith(start, kByteOrderMark)
             ? static_cast<int64_t>(kByteOrderMark.size())
             : 0;
}

absl::Status CsvFile::Scan() {
  ASSIGN_OR_RETURN(const int64_t start, FindStart());
  CsvWindow window(format_.delimiter, kMaxCsvRowBytes);
  window.Seek(file_, start);
  if (!format_.has_header) return ScanRows(window, 1);

  const absl::StatusOr<std::optional<CsvRow>> header = window.Next();
  if (!header.ok()) return AtLine(header.status(), path(), 1);
  if (!*header || (*header)->text.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path(), ": line 1: is empty, expected the names of the columns"));
  }
  RETURN_IF_ERROR(AtLine(ReadHeader(**header), path(), 1));
  return ScanRows(window, 1 + (*header)->line_count);
}

absl::Status CsvFile::ReadHeader(const CsvRow& row) {
  std::vector<std::string> names;
  std::string scratch;
  for (CsvFields fields(row.text, format_.delimiter); !fields.is_done();) {
    const absl::string_view name = UnquotedCsv(fields.Next(), scratch);
    if (!IsUtf8(name) || absl::StrContains(name, '\0')) {
      return absl::InvalidArgumentError(
          absl::StrFormat("field %d: the name of the column is not UTF-8 "
                          "without NUL",
                          names.size() + 1));
    }
    names.emplace_back(name);
  }
  column_count_ = row.field_count;
  CHECK_EQ(column_count_, std::ssize(names));
  names_ = std::make_shared<std::vector<std::string>>(std::move(names));
  return absl::OkStatus();
}

absl::Status CsvFile::ScanRows(CsvWindow& window, int64_t line) {
  first_line_ = line;
  // The first of the empty lines at the end; 0: there are none so far.
  int64_t empty_line = 0;
  while (true) {
    const int64_t offset = window.offset();
    const absl::StatusOr<std::optional<CsvRow>> row = window.Next();
    if (!row.ok()) return AtLine(row.status(), path(), line);
    if (!*row) break;
    if ((*row)->text.empty()) {
      if (empty_line == 0) empty_line = line;
    } else if (empty_line != 0) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: line %d: is empty, expected a row", path(), empty_line));
    } else {
      if (column_count_ == 0) column_count_ = (*row)->field_count;
      RETURN_IF_ERROR(AtLine(CheckFieldCount(**row), path(), line));
      offsets_.Add(offset);
      max_row_bytes_ =
          std::max(max_row_bytes_, static_cast<int64_t>((*row)->size_bytes));
      has_long_rows_ = has_long_rows_ || (*row)->line_count > 1;
    }
    line += (*row)->line_count;
  }
  if (row_count() > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      path(), ": has no rows", format_.has_header ? " behind the header" : ""));
}

absl::Status CsvFile::CheckFieldCount(const CsvRow& row) const {
  if (row.field_count == column_count_) return absl::OkStatus();
  // The file ends within the line.
  const bool is_cut = row.line_count == 0 && row.field_count < column_count_;
  return absl::InvalidArgumentError(absl::StrFormat(
      "the number of fields is %d, expected %d, as in %s%s", row.field_count,
      column_count_, format_.has_header ? "the header" : "the first row",
      is_cut ? "; the file may have been cut off" : ""));
}

absl::StatusOr<absl::string_view> CsvFile::ReadRow(int64_t row,
                                                   CsvCursor& cursor) const {
  const RowOffsets::Place place = offsets_.AtOrBefore(row);
  const bool is_ahead = cursor.file == this && cursor.next_row <= row &&
                        cursor.next_row >= place.row;
  if (!is_ahead) {
    cursor.window.Seek(file_, place.offset);
    cursor.next_row = place.row;
  }
  // After an error the cursor stands nowhere.
  cursor.file = nullptr;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<CsvRow> read, cursor.window.Next());
    if (!read) return HasChanged(path());
    if (cursor.next_row++ < row) continue;
    cursor.file = this;
    return read->text;
  }
}

absl::StatusOr<int64_t> CsvFile::LineOf(int64_t row) const {
  if (!has_long_rows_) return first_line_ + row;
  CsvWindow window(format_.delimiter, max_row_bytes_);
  window.Seek(file_, offsets_.AtOrBefore(0).offset);
  int64_t line = first_line_;
  for (; row > 0; --row) {
    ASSIGN_OR_RETURN(const std::optional<CsvRow> read, window.Next());
    if (!read) return HasChanged(path());
    line += read->line_count;
  }
  return line;
}

absl::Status CsvFile::Locate(const absl::Status& error, int64_t row) const {
  const absl::StatusOr<int64_t> line = LineOf(row);
  if (line.ok()) return AtLine(error, path(), *line);
  return absl::IsInvalidArgument(error) ? Annotate(error, path()) : error;
}

}  // namespace paceline
