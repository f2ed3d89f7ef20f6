#include "common/data_source/idx.h"

#include <bit>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "common/data_source/gzip_file.h"
#include "common/data_source/stored_array.h"
#include "common/limits.h"
#include "glog/logging.h"

namespace paceline {
namespace {

uint32_t BigEndian32(const unsigned char* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 |
         uint32_t{bytes[2]} << 8 | uint32_t{bytes[3]};
}

std::optional<ElementType> TypeOfCode(int code) {
  switch (code) {
    case 0x08:
      return ElementType::kUint8;
    case 0x09:
      return ElementType::kInt8;
    case 0x0B:
      return ElementType::kInt16;
    case 0x0C:
      return ElementType::kInt32;
    case 0x0D:
      return ElementType::kFloat32;
    case 0x0E:
      return ElementType::kFloat64;
    default:
      return std::nullopt;
  }
}

absl::StatusOr<IdxHeader> ReadHeader(GzipFile& file) {
  const std::string& path = file.path();
  unsigned char magic[4] = {};
  ASSIGN_OR_RETURN(int64_t count, file.Read(magic, sizeof(magic)));
  if (count < 4) return Truncated(path, "magic number", count, 4);
  if (magic[0] != 0 || magic[1] != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: the magic number is 0x%08x, expected 0x0000 and then the type and "
        "the number of dimensions: this is no IDX file",
        path, BigEndian32(magic)));
  }
  const std::optional<ElementType> type = TypeOfCode(magic[2]);
  if (!type.has_value()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: the element type is 0x%02x, expected 0x08 (uint8), 0x09 (int8), "
        "0x0b (int16), 0x0c (int32), 0x0d (float32) or 0x0e (float64)",
        path, magic[2]));
  }
  const int rank = magic[3];
  RETURN_IF_ERROR(CheckStoredRank(path, rank));

  unsigned char sizes[4 * limits::kMaxRank] = {};
  ASSIGN_OR_RETURN(count, file.Read(sizes, 4 * rank));
  if (count < 4 * rank) return Truncated(path, "dimensions", count, 4 * rank);
  IdxHeader header{*type, {}};
  for (int i = 0; i < rank; ++i) {
    header.shape.push_back(BigEndian32(sizes + 4 * i));
  }
  RETURN_IF_ERROR(CheckStoredShape(path, header.shape));
  return header;
}

int64_t HeaderBytes(const IdxHeader& header) {
  return static_cast<int64_t>(4 + 4 * header.shape.size());
}

template <typename Word>
Word SwapBytes(Word word) {
  if constexpr (sizeof(Word) == 2) return __builtin_bswap16(word);
  if constexpr (sizeof(Word) == 4) return __builtin_bswap32(word);
  if constexpr (sizeof(Word) == 8) return __builtin_bswap64(word);
}

template <typename Word>
void SwapAll(std::byte* data, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, data + i * sizeof(Word), sizeof(Word));
    word = SwapBytes(word);
    std::memcpy(data + i * sizeof(Word), &word, sizeof(Word));
  }
}

void FromBigEndian(size_t element_size, std::byte* data, int64_t count) {
  if (std::endian::native == std::endian::big) return;
  if (element_size == 2) SwapAll<uint16_t>(data, count);
  if (element_size == 4) SwapAll<uint32_t>(data, count);
  if (element_size == 8) SwapAll<uint64_t>(data, count);
}

}  // namespace

absl::StatusOr<IdxHeader> ReadIdxHeader(const std::string& path) {
  ASSIGN_OR_RETURN(GzipFile file, GzipFile::Open(path));
  return ReadHeader(file);
}

absl::StatusOr<StoredArray> ReadIdx(const std::string& path) {
  ASSIGN_OR_RETURN(GzipFile file, GzipFile::Open(path));
  ASSIGN_OR_RETURN(IdxHeader header, ReadHeader(file));
  ASSIGN_OR_RETURN(
      StoredArray array,
      ReadStoredArray(path, header.type, std::move(header.shape),
                      {file.capacity_bytes(), [&file](void* out, int64_t size) {
                         return file.Read(out, size);
                       }}));
  FromBigEndian(SizeOf(array.type), array.data.get(), NumElements(array.shape));
  return array;
}

absl::StatusOr<IdxRows> IdxRows::Open(const std::string& path) {
  ASSIGN_OR_RETURN(GzipFile file, GzipFile::Open(path));
  ASSIGN_OR_RETURN(IdxHeader header, ReadHeader(file));
  ASSIGN_OR_RETURN(const int64_t bytes,
                   StoredBytes(path, header.type, header.shape,
                               file.capacity_bytes() - HeaderBytes(header)));
  if (file.is_compressed() && bytes > kMaxCompressedStreamBytes) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: a stream of a compressed file of %d bytes of values takes too "
        "long to go to an example; expected at most %d, or a file that is not "
        "compressed",
        path, bytes, kMaxCompressedStreamBytes));
  }
  return IdxRows(std::move(file), std::move(header));
}

IdxRows::IdxRows(GzipFile file, IdxHeader header)
    : file_(std::move(file)),
      header_(std::move(header)),
      row_size_(NumElements(header_.shape) / header_.shape[0]) {}

absl::StatusOr<Elements> IdxRows::Read(int64_t index) {
  CHECK(index >= 0 && index < header_.shape[0]);
  const int64_t row_bytes =
      row_size_ * static_cast<int64_t>(SizeOf(header_.type));
  if (row_ == nullptr) {
    row_.reset(new (std::nothrow) std::byte[row_bytes]);
    if (row_ == nullptr) {
      return absl::ResourceExhaustedError(absl::StrFormat(
          "%s: no memory for a row of %d bytes", file_.path(), row_bytes));
    }
  }
  // After an error the position in the file is unknown.
  if (index != std::exchange(next_, -1)) {
    RETURN_IF_ERROR(file_.Seek(HeaderBytes(header_) + index * row_bytes));
  }
  ASSIGN_OR_RETURN(const int64_t got, file_.Read(row_.get(), row_bytes));
  if (got < row_bytes) return Truncated(file_.path(), "row", got, row_bytes);
  next_ = index + 1;
  if (next_ == header_.shape[0]) {
    RETURN_IF_ERROR(CheckEnd(
        file_.path(), header_.type, header_.shape,
        [this](void* out, int64_t size) { return file_.Read(out, size); }));
  }
  FromBigEndian(SizeOf(header_.type), row_.get(), row_size_);
  return Elements{header_.type, row_.get(), row_size_};
}

}  // namespace paceline
