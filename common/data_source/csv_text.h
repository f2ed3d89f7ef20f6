// CSV in memory, by the rules of RFC 4180.
//
// A row ends with LF or CRLF, or with the file. A delimiter separates its
// fields. A field that begins with a quote ends with one: it may have
// delimiters and line ends, and has each quote twice. Other fields have no
// quotes.
#ifndef PACELINE_COMMON_DATA_SOURCE_CSV_TEXT_H_
#define PACELINE_COMMON_DATA_SOURCE_CSV_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

struct CsvRow {
  // Without the line end.
  absl::string_view text;
  // With the line end.
  size_t size_bytes = 0;
  int64_t field_count = 0;
  // Line ends in it, with its own.
  int64_t line_count = 0;
};

// The row at the front of `text`; nullopt if the text ends before it does.
// `is_end`: the text ends where the file does. InvalidArgument names the field,
// from 1, that breaks the rules.
absl::StatusOr<std::optional<CsvRow>> ScanCsvRow(absl::string_view text,
                                                 char delimiter, bool is_end);

// Iterates over the fields of a row.
class CsvFields {
 public:
  // `row`: the text of a CsvRow.
  CsvFields(absl::string_view row, char delimiter)
      : next_(row.data()),
        end_(row.data() + row.size()),
        delimiter_(delimiter) {}

  // Whether there are no more fields.
  bool is_done() const { return next_ == nullptr; }

  // The rest of the row, from the next field on. Not if it is done.
  absl::string_view rest() const {
    return {next_, static_cast<size_t>(end_ - next_)};
  }

  // The next field as it is stored, with its quotes. Not if it is done.
  absl::string_view Next();

  // Skips the next field, which is known to have `size` bytes.
  void Skip(size_t size) { GoTo(next_ + size); }

 private:
  // `field_end`: the end of the next field.
  void GoTo(const char* field_end) {
    next_ = field_end == end_ ? nullptr : field_end + 1;
  }

  const char* next_;
  const char* end_;
  char delimiter_;
};

// What a field says, without its quotes. Uses `scratch` if that is stored
// nowhere as it is.
absl::string_view UnquotedCsv(absl::string_view field, std::string& scratch);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_CSV_TEXT_H_
