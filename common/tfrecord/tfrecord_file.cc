#include "common/tfrecord/tfrecord_file.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/crc32c.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

constexpr int64_t kSizeBytes = 8;
constexpr int64_t kChecksumBytes = 4;
constexpr int64_t kHeaderBytes = kSizeBytes + kChecksumBytes;
constexpr int64_t kFrameBytes = kHeaderBytes + kChecksumBytes;

template <typename T>
T LittleEndian(const char* bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

// Whether the bytes are followed by their checksum.
bool HasChecksum(absl::string_view bytes) {
  const auto* const data = reinterpret_cast<const std::byte*>(bytes.data());
  return MaskCrc32c(ExtendCrc32c(0, {data, bytes.size()})) ==
         LittleEndian<uint32_t>(bytes.data() + bytes.size());
}

}  // namespace

absl::StatusOr<TfrecordFile> TfrecordFile::Open(const std::string& path,
                                                size_t max_offsets) {
  ASSIGN_OR_RETURN(StableFile opened, StableFile::Open(path));
  TfrecordFile file(std::move(opened), max_offsets);
  RETURN_IF_ERROR(file.FindRecords());
  return file;
}

absl::Status TfrecordFile::FindRecords() {
  // Headers of small records come many at a time; contents of large ones are
  // not read.
  FileWindow window;
  int64_t offset = 0;
  while (offset < file_.size_bytes()) {
    // Less at the end of a file that is cut.
    const int64_t bytes = std::min(kHeaderBytes, file_.size_bytes() - offset);
    ASSIGN_OR_RETURN(const absl::string_view header,
                     window.At(file_, offset, bytes));
    if (offset == 0 && absl::StartsWith(header, "\x1f\x8b")) {
      return absl::InvalidArgumentError(
          absl::StrCat(path(),
                       ": it is compressed by gzip; expected TFRecords without "
                       "compression"));
    }
    ASSIGN_OR_RETURN(const int64_t size,
                     SizeOf(record_count(), offset, header));
    offsets_.Add(offset);
    offset += kFrameBytes + size;
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> TfrecordFile::SizeOf(int64_t index, int64_t offset,
                                             absl::string_view header) const {
  const int64_t left = file_.size_bytes() - offset;
  uint64_t size = 0;
  if (left >= kHeaderBytes) {
    size = LittleEndian<uint64_t>(header.data());
    if (!HasChecksum(header.substr(0, kSizeBytes))) {
      return absl::DataLossError(absl::StrCat(
          NameOf(index, offset), ": the checksum of its size is wrong; ",
          index == 0 ? "expected a file of TFRecords" : "the file is damaged"));
    }
    if (size > uint64_t{kMaxRecordBytes}) {
      return absl::InvalidArgumentError(
          absl::StrCat(NameOf(index, offset), ": it has ", size,
                       " bytes; expected at most ", kMaxRecordBytes));
    }
  }
  if (left < kFrameBytes || static_cast<int64_t>(size) > left - kFrameBytes) {
    return absl::DataLossError(absl::StrCat(NameOf(index, offset),
                                            ": the file ends within it, after ",
                                            left, " bytes"));
  }
  return static_cast<int64_t>(size);
}

absl::StatusOr<int64_t> TfrecordFile::EndOf(int64_t index, int64_t offset,
                                            FileWindow& window) const {
  if (index + 1 == record_count()) return file_.size_bytes();
  const RowOffsets::Place next = offsets_.AtOrBefore(index + 1);
  if (next.row == index + 1) return next.offset;
  ASSIGN_OR_RETURN(const absl::string_view header,
                   window.At(file_, offset, kHeaderBytes));
  ASSIGN_OR_RETURN(const int64_t size, SizeOf(index, offset, header));
  return offset + kFrameBytes + size;
}

absl::StatusOr<TfrecordFile::Record> TfrecordFile::Read(
    int64_t index, FileWindow& window) const {
  const RowOffsets::Place place = offsets_.AtOrBefore(index);
  int64_t offset = place.offset;
  for (int64_t before = place.row; before < index; ++before) {
    ASSIGN_OR_RETURN(offset, EndOf(before, offset, window));
  }
  ASSIGN_OR_RETURN(const int64_t end, EndOf(index, offset, window));
  ASSIGN_OR_RETURN(const absl::string_view record,
                   window.At(file_, offset, end - offset));
  ASSIGN_OR_RETURN(const int64_t size, SizeOf(index, offset, record));
  const absl::string_view content =
      record.substr(kHeaderBytes, static_cast<size_t>(size));
  if (size == end - offset - kFrameBytes && HasChecksum(content)) {
    return Record{offset, content};
  }
  return absl::DataLossError(absl::StrCat(NameOf(index, offset),
                                          ": the checksum of its content is "
                                          "wrong; the file is damaged"));
}

std::string TfrecordFile::NameOf(int64_t index, int64_t offset) const {
  return absl::StrCat(path(), ": record ", index, ", at byte ", offset);
}

}  // namespace paceline
