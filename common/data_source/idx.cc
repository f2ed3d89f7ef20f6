#include "common/data_source/idx.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "common/data_source/stored_array.h"
#include "common/limits.h"

namespace paceline {
namespace {

// A file read through zlib, which passes plain files through.
class InputFile {
 public:
  static absl::StatusOr<InputFile> Open(const std::string& path) {
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    if (error) {
      return absl::ErrnoToStatus(error.value(),
                                 absl::StrCat("cannot open ", path));
    }
    errno = 0;
    gzFile file = gzopen(path.c_str(), "rbe");
    if (file == nullptr) {
      return absl::ErrnoToStatus(errno == 0 ? ENOMEM : errno,
                                 absl::StrCat("cannot open ", path));
    }
    gzbuffer(file, 1 << 17);
    return InputFile(path, static_cast<int64_t>(size), file);
  }
  ~InputFile() {
    if (file_ != nullptr) gzclose_r(file_);
  }
  InputFile(InputFile&& other) noexcept
      : path_(std::move(other.path_)),
        size_bytes_(other.size_bytes_),
        file_(std::exchange(other.file_, nullptr)) {}

  const std::string& path() const { return path_; }
  // Upper bound of the bytes that Read can give.
  int64_t capacity_bytes() const {
    return gzdirect(file_) != 0 ? size_bytes_ : size_bytes_ * kMaxDeflateRatio;
  }

  // Reads `size` bytes, fewer only at the end of the file.
  absl::StatusOr<int64_t> Read(void* out, int64_t size) {
    int64_t total = 0;
    while (total < size) {
      const auto chunk = static_cast<unsigned>(
          std::min<int64_t>(size - total, int64_t{1} << 30));
      const int count = gzread(file_, static_cast<char*>(out) + total, chunk);
      // zlib reports a compressed file that ends early as a short read, and
      // tells only when it is asked.
      if (count <= 0) RETURN_IF_ERROR(LastError());
      if (count <= 0) break;
      total += count;
    }
    return total;
  }

 private:
  InputFile(std::string path, int64_t size_bytes, gzFile file)
      : path_(std::move(path)), size_bytes_(size_bytes), file_(file) {}

  absl::Status LastError() const {
    int code = Z_OK;
    const char* message = gzerror(file_, &code);
    if (code == Z_OK || code == Z_STREAM_END) return absl::OkStatus();
    if (code == Z_ERRNO) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path_));
    }
    if (code == Z_BUF_ERROR) {
      return absl::DataLossError(
          absl::StrCat(path_, ": the compressed data is truncated"));
    }
    return absl::DataLossError(
        absl::StrCat(path_, ": the compressed data is damaged: ", message));
  }

  std::string path_;
  int64_t size_bytes_;
  gzFile file_;
};

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

absl::StatusOr<IdxHeader> ReadHeader(InputFile& file) {
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
  ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
  return ReadHeader(file);
}

absl::StatusOr<StoredArray> ReadIdx(const std::string& path) {
  ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
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

}  // namespace paceline
