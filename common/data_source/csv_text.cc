#include "common/data_source/csv_text.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace paceline {
namespace {

constexpr char kQuote = '"';
constexpr size_t kNowhere = absl::string_view::npos;

absl::Status WrongField(int64_t field, absl::string_view message) {
  return absl::InvalidArgumentError(
      absl::StrFormat("field %d: %s", field, message));
}

int64_t CountOf(char c, absl::string_view text) {
  return std::count(text.begin(), text.end(), c);
}

// The row that the line end at `line_end` closes; kNowhere: the file's end.
CsvRow RowUpTo(absl::string_view text, size_t line_end) {
  CsvRow row;
  row.text = absl::StripSuffix(text.substr(0, line_end), "\r");
  row.size_bytes = line_end == kNowhere ? text.size() : line_end + 1;
  row.line_count = line_end == kNowhere ? 0 : 1;
  return row;
}

// Index of the quote that closes the field at `begin`; kNowhere: the text ends
// before.
size_t FindClosingQuote(absl::string_view text, size_t begin) {
  size_t at = begin + 1;
  while (true) {
    at = text.find(kQuote, at);
    if (at == kNowhere || at + 1 == text.size() || text[at + 1] != kQuote) {
      return at;
    }
    at += 2;
  }
}

// Scans a row that has quotes.
class QuotedRowScanner {
 public:
  QuotedRowScanner(absl::string_view text, char delimiter, bool is_end)
      : text_(text), delimiter_(delimiter), is_end_(is_end) {}

  absl::StatusOr<std::optional<CsvRow>> Scan() {
    while (true) {
      const bool is_quoted = at_ < text_.size() && text_[at_] == kQuote;
      const absl::Status status = is_quoted ? EndQuoted() : EndPlain();
      if (!status.ok()) return status;
      if (needs_more_) return std::nullopt;
      if (at_ < text_.size() && text_[at_] == delimiter_) {
        ++field_count_;
        ++at_;
        continue;
      }
      CsvRow row = RowUpTo(text_, at_ < text_.size() ? at_ : kNowhere);
      row.field_count = field_count_;
      row.line_count += quoted_lines_;
      return row;
    }
  }

 private:
  // Both go to the delimiter, the LF or the end of the text behind the field at
  // at_, or set needs_more_.
  absl::Status EndPlain() {
    while (at_ < text_.size() && text_[at_] != delimiter_ &&
           text_[at_] != '\n') {
      if (text_[at_] == kQuote) {
        return WrongField(field_count_,
                          "has a quote, but does not begin with one");
      }
      ++at_;
    }
    needs_more_ = at_ == text_.size() && !is_end_;
    return absl::OkStatus();
  }

  absl::Status EndQuoted() {
    const size_t close = FindClosingQuote(text_, at_);
    if (close == kNowhere && is_end_) {
      return WrongField(field_count_, "the file ends within its quotes");
    }
    // A quote at the end of the text may be the first of two, and a CR the
    // first half of a line end.
    needs_more_ = !is_end_ && (close == kNowhere || text_.size() - close <= 2);
    if (needs_more_) return absl::OkStatus();
    quoted_lines_ += CountOf('\n', text_.substr(at_, close - at_));
    at_ = close + 1;
    const absl::string_view behind = text_.substr(at_);
    if (behind == "\r") at_ = text_.size();
    if (absl::StartsWith(behind, "\r\n")) ++at_;
    if (at_ == text_.size() || text_[at_] == delimiter_ || text_[at_] == '\n') {
      return absl::OkStatus();
    }
    return WrongField(field_count_,
                      "goes on behind its closing quote, expected a delimiter "
                      "or the end of the line");
  }

  const absl::string_view text_;
  const char delimiter_;
  const bool is_end_;
  size_t at_ = 0;
  int64_t field_count_ = 1;
  int64_t quoted_lines_ = 0;
  bool needs_more_ = false;
};

}  // namespace

absl::StatusOr<std::optional<CsvRow>> ScanCsvRow(absl::string_view text,
                                                 char delimiter, bool is_end) {
  const size_t line_end = text.find('\n');
  if (line_end == kNowhere && !is_end) return std::nullopt;
  if (text.substr(0, line_end).find(kQuote) != kNowhere) {
    return QuotedRowScanner(text, delimiter, is_end).Scan();
  }
  CsvRow row = RowUpTo(text, line_end);
  row.field_count = 1 + CountOf(delimiter, row.text);
  return row;
}

absl::string_view CsvFields::Next() {
  const absl::string_view rest = this->rest();
  size_t begin = 0;
  if (!rest.empty() && rest[0] == kQuote) begin = FindClosingQuote(rest, 0);
  const size_t end =
      begin == kNowhere ? kNowhere : rest.find(delimiter_, begin);
  const absl::string_view field = rest.substr(0, end);
  Skip(field.size());
  return field;
}

absl::string_view UnquotedCsv(absl::string_view field, std::string& scratch) {
  if (!absl::ConsumePrefix(&field, "\"")) return field;
  absl::ConsumeSuffix(&field, "\"");
  if (field.find(kQuote) == kNowhere) return field;
  scratch.clear();
  for (size_t i = 0; i < field.size(); ++i) {
    scratch += field[i];
    if (field[i] == kQuote) ++i;
  }
  return scratch;
}

}  // namespace paceline
