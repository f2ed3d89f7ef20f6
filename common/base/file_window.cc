#include "common/base/file_window.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "common/base/status_macros.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Readers that share a file each leave out what others read.
constexpr int64_t kMaxGapBytes = 64 << 10;
constexpr int64_t kFirstAheadBytes = 8 << 10;

}  // namespace

absl::StatusOr<absl::string_view> FileWindow::At(const StableFile& file,
                                                 int64_t offset, int64_t size) {
  CHECK(offset >= 0 && size >= 0 && size <= file.size_bytes() - offset);
  if (file_ != &file || offset < begin_ || offset + size > end_) {
    RETURN_IF_ERROR(Move(file, offset, size));
  }
  return absl::string_view(buffer_.data() + (offset - begin_),
                           static_cast<size_t>(size));
}

absl::Status FileWindow::Move(const StableFile& file, int64_t offset,
                              int64_t size) {
  const bool goes_on =
      file_ == &file && offset >= begin_ && offset <= end_ + kMaxGapBytes;
  ahead_bytes_ =
      goes_on ? std::clamp(2 * ahead_bytes_, kFirstAheadBytes, kMaxAheadBytes)
              : 0;
  const int64_t bytes =
      std::min(std::max(size, ahead_bytes_), file.size_bytes() - offset);
  const int64_t kept =
      goes_on ? std::clamp<int64_t>(end_ - offset, 0, bytes) : 0;
  std::memmove(buffer_.data(),
               buffer_.data() + (kept > 0 ? offset - begin_ : 0),
               static_cast<size_t>(kept));
  if (static_cast<int64_t>(buffer_.size()) < bytes) {
    buffer_.resize(static_cast<size_t>(bytes));
  }
  // Empty if the read fails.
  file_ = nullptr;
  RETURN_IF_ERROR(
      file.ReadAt(offset + kept, buffer_.data() + kept, bytes - kept));
  file_ = &file;
  begin_ = offset;
  end_ = offset + bytes;
  return absl::OkStatus();
}

}  // namespace paceline
