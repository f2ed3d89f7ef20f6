// Reads the rows of CSV files one after the other, from any row on.
#ifndef PACELINE_COMMON_DATA_SOURCE_CSV_WINDOW_H_
#define PACELINE_COMMON_DATA_SOURCE_CSV_WINDOW_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "common/base/stable_file.h"
#include "common/data_source/csv_text.h"

namespace paceline {

// Has the part of a file in memory where it reads. Reads little after a jump,
// and more and more at once while it goes on from there. Not thread-safe.
class CsvWindow {
 public:
  // Allocates memory for a row of at most `max_row_bytes`, with its line end,
  // and for what it reads at once: 256 KiB.
  CsvWindow(char delimiter, int64_t max_row_bytes);

  // Goes to the row that begins at `offset` of `file`, which must outlive its
  // use here.
  void Seek(const StableFile& file, int64_t offset);

  // Offset of the next row.
  int64_t offset() const { return base_ + begin_; }

  // The next row, valid until the next call; nullopt at the end of the file.
  // InvalidArgument without path and line if it is malformed or too long; else
  // the errors of StableFile.
  absl::StatusOr<std::optional<CsvRow>> Next();

 private:
  absl::Status Fill();

  const char delimiter_;
  const int64_t max_row_bytes_;
  const int64_t capacity_;
  const std::unique_ptr<char[]> buffer_;
  const StableFile* file_ = nullptr;
  // buffer_[i] is byte base_ + i of the file. Those in [begin_, end_) are
  // still to be given.
  int64_t base_ = 0;
  int64_t begin_ = 0;
  int64_t end_ = 0;
  int64_t next_read_bytes_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_CSV_WINDOW_H_
