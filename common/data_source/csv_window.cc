#include "common/data_source/csv_window.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// After a jump, unless a row is shorter.
constexpr int64_t kMaxFirstReadBytes = 8 << 10;
constexpr int64_t kMaxReadBytes = 256 << 10;

}  // namespace

CsvWindow::CsvWindow(char delimiter, int64_t max_row_bytes)
    : delimiter_(delimiter),
      max_row_bytes_(max_row_bytes),
      capacity_(max_row_bytes + kMaxReadBytes),
      buffer_(new char[static_cast<size_t>(capacity_)]) {}

void CsvWindow::Seek(const StableFile& file, int64_t offset) {
  if (file_ == &file && offset >= base_ && offset <= base_ + end_) {
    begin_ = offset - base_;
    return;
  }
  file_ = &file;
  base_ = offset;
  begin_ = 0;
  end_ = 0;
  next_read_bytes_ = std::min(max_row_bytes_, kMaxFirstReadBytes);
}

absl::StatusOr<std::optional<CsvRow>> CsvWindow::Next() {
  CHECK(file_ != nullptr);
  while (true) {
    const bool is_end = base_ + end_ == file_->size_bytes();
    const absl::string_view text(buffer_.get() + begin_,
                                 static_cast<size_t>(end_ - begin_));
    if (is_end && text.empty()) return std::nullopt;
    ASSIGN_OR_RETURN(const std::optional<CsvRow> row,
                     ScanCsvRow(text, delimiter_, is_end));
    const auto known =
        static_cast<int64_t>(row ? row->size_bytes : text.size());
    if (known > max_row_bytes_) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "is longer than the limit of %d bytes", max_row_bytes_));
    }
    if (row) {
      begin_ += known;
      return row;
    }
    RETURN_IF_ERROR(Fill());
  }
}

absl::Status CsvWindow::Fill() {
  const int64_t kept = end_ - begin_;
  std::memmove(buffer_.get(), buffer_.get() + begin_,
               static_cast<size_t>(kept));
  base_ += begin_;
  begin_ = 0;
  end_ = kept;
  const int64_t count = std::min({next_read_bytes_, capacity_ - kept,
                                  file_->size_bytes() - (base_ + kept)});
  RETURN_IF_ERROR(file_->ReadAt(base_ + kept, buffer_.get() + kept, count));
  end_ += count;
  next_read_bytes_ = std::min(2 * next_read_bytes_, kMaxReadBytes);
  return absl::OkStatus();
}

}  // namespace paceline
