#include "common/tfrecord/tfrecord_file.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "common/base/crc32c.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

constexpr int64_t kSizeBytes = 8;
constexpr int64_t kChecksumBytes = 4;
constexpr int64_t kHeaderBytes = kSizeBytes + kChecksumBytes;
constexpr int64_t kFrameBytes = kHeaderBytes + kChecksumBytes;

template <typename T>
T LittleEndian(const std::byte* bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(std::to_integer<T>(bytes[i]) << (8 * i));
  }
  return value;
}

// Whether the bytes are followed by their checksum.
bool HasChecksum(absl::Span<const std::byte> bytes) {
  return MaskCrc32c(ExtendCrc32c(0, bytes)) ==
         LittleEndian<uint32_t>(bytes.data() + bytes.size());
}

// The size in a header; -1 if its checksum is another.
int64_t SizeOf(const std::byte* header) {
  if (!HasChecksum({header, kSizeBytes})) return -1;
  // One that is negative as a signed number is above all limits.
  return static_cast<int64_t>(
      std::min<uint64_t>(LittleEndian<uint64_t>(header), INT64_MAX));
}

// Reads headers in ascending order. Those of small records come many at a time;
// contents of large records are not read.
class HeaderReader {
 public:
  HeaderReader(RandomAccess& file) : file_(file) {}

  // The header at `offset`, behind which there are kHeaderBytes at least.
  absl::StatusOr<const std::byte*> At(int64_t offset) {
    const int64_t end = begin_ + static_cast<int64_t>(window_.size());
    if (offset < begin_ || offset + kHeaderBytes > end) {
      const bool is_near = offset - begin_ <= kWindowBytes;
      const int64_t size = is_near ? kWindowBytes : kHeaderBytes;
      begin_ = offset;
      window_.resize(std::min(size, file_.size_bytes() - offset));
      RETURN_IF_ERROR(file_.ReadAt(offset, absl::MakeSpan(window_)));
    }
    return window_.data() + (offset - begin_);
  }

 private:
  static constexpr int64_t kWindowBytes = 64 << 10;

  RandomAccess& file_;
  int64_t begin_ = 0;
  std::vector<std::byte> window_;
};

}  // namespace

absl::StatusOr<TfrecordFile> TfrecordFile::Open(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<RandomAccess> bytes, OpenRandomAccess(path));
  TfrecordFile file(path, std::move(bytes));
  RETURN_IF_ERROR(file.FindRecords());
  return file;
}

absl::Status TfrecordFile::FindRecords() {
  const int64_t end = file_->size_bytes();
  HeaderReader headers(*file_);
  while (offsets_.back() < end) {
    const int64_t index = record_count();
    const int64_t left = end - offsets_.back();
    int64_t size = -1;
    if (left >= kHeaderBytes) {
      ASSIGN_OR_RETURN(const std::byte* const header,
                       headers.At(offsets_.back()));
      size = SizeOf(header);
      if (index == 0 && LittleEndian<uint16_t>(header) == 0x8b1f && size < 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            path_,
            ": it is compressed by gzip; expected TFRecords without "
            "compression"));
      }
    }
    if (left >= kHeaderBytes && size < 0) {
      return absl::DataLossError(absl::StrCat(
          NameOf(index), ": the checksum of its size is wrong; ",
          index == 0 ? "expected a file of TFRecords" : "the file is damaged"));
    }
    if (size > kMaxRecordBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat(NameOf(index), ": it has ", size,
                       " bytes; expected at most ", kMaxRecordBytes));
    }
    if (left < kFrameBytes || size > left - kFrameBytes) {
      return absl::DataLossError(absl::StrCat(
          NameOf(index), ": the file ends within it, after ", left, " bytes"));
    }
    offsets_.push_back(offsets_.back() + kFrameBytes + size);
  }
  offsets_.shrink_to_fit();
  return absl::OkStatus();
}

absl::StatusOr<absl::string_view> TfrecordFile::Read(
    int64_t index, std::string& buffer) const {
  const int64_t begin = offsets_[index];
  const size_t bytes = offsets_[index + 1] - begin;
  if (buffer.size() < bytes) buffer.resize(bytes);
  const absl::Span<std::byte> record(
      reinterpret_cast<std::byte*>(buffer.data()), bytes);
  RETURN_IF_ERROR(file_->ReadAt(begin, record));
  const absl::Span<const std::byte> content =
      record.subspan(kHeaderBytes, bytes - kFrameBytes);
  if (SizeOf(record.data()) != static_cast<int64_t>(content.size())) {
    return absl::DataLossError(absl::StrCat(
        NameOf(index), ": its size has changed since the file was opened"));
  }
  if (!HasChecksum(content)) {
    return absl::DataLossError(
        absl::StrCat(NameOf(index),
                     ": the checksum of its content is wrong; the file is "
                     "damaged"));
  }
  return absl::string_view(buffer.data() + kHeaderBytes, content.size());
}

std::string TfrecordFile::NameOf(int64_t index) const {
  return absl::StrCat(path_, ": record ", index, ", at byte ", offsets_[index]);
}

}  // namespace paceline
