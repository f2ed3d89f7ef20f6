#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "common/safetensors/safetensors.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// A file begins with the length of its header.
constexpr int64_t kLengthBytes = 8;
constexpr size_t kCrcBufferBytes = 1 << 20;

uint64_t FromLittleEndian(absl::Span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | std::to_integer<uint64_t>(bytes[i]);
  }
  return value;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SafetensorsFile>> SafetensorsFile::Open(
    const std::string& path) {
  // A pipe would block.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  }
  auto file = absl::WrapUnique(new SafetensorsFile(path, descriptor));
  RETURN_IF_ERROR(file->ReadHeader());
  return file;
}

SafetensorsFile::SafetensorsFile(std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {}

SafetensorsFile::~SafetensorsFile() { close(descriptor_); }

absl::Status SafetensorsFile::Damaged(absl::string_view reason) const {
  return absl::DataLossError(absl::StrCat(path_, " is damaged: ", reason));
}

absl::Status SafetensorsFile::ReadHeader() {
  struct stat info;
  if (fstat(descriptor_, &info) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot stat ", path_));
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path_, ": expected a regular file"));
  }
  size_bytes_ = info.st_size;
  if (size_bytes_ < kLengthBytes) return Damaged("it has no header");
  std::byte length_bytes[kLengthBytes];
  RETURN_IF_ERROR(ReadAt(0, absl::MakeSpan(length_bytes)));
  const uint64_t length = FromLittleEndian(length_bytes);
  if (length > uint64_t{limits::kMaxHeaderBytes}) {
    return Damaged(absl::StrCat("a header of ", length,
                                " bytes is larger than the limit of ",
                                limits::kMaxHeaderBytes));
  }
  data_offset_bytes_ = kLengthBytes + static_cast<int64_t>(length);
  if (data_offset_bytes_ > size_bytes_) return Damaged("its header is cut");

  std::string json(length, '\0');
  RETURN_IF_ERROR(ReadAt(
      kLengthBytes,
      absl::MakeSpan(reinterpret_cast<std::byte*>(json.data()), json.size())));
  absl::StatusOr<SafetensorsHeader> header =
      ParseSafetensorsHeader(json, size_bytes_ - data_offset_bytes_);
  if (absl::IsUnimplemented(header.status())) {
    return Annotate(header.status(), path_);
  }
  if (!header.ok()) return Damaged(header.status().message());
  header_ = *std::move(header);
  return absl::OkStatus();
}

absl::Status SafetensorsFile::ReadAt(int64_t offset_bytes,
                                     absl::Span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t count =
        pread(descriptor_, out.data(), out.size(), offset_bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path_));
    }
    if (count == 0) return Damaged("it became shorter while it was read");
    out.remove_prefix(static_cast<size_t>(count));
    offset_bytes += count;
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> SafetensorsFile::ComputeCrc32() const {
  std::vector<std::byte> buffer(kCrcBufferBytes);
  uLong crc = 0;
  for (int64_t offset = 0; offset < size_bytes_;) {
    const int64_t count =
        std::min<int64_t>(kCrcBufferBytes, size_bytes_ - offset);
    RETURN_IF_ERROR(ReadAt(offset, absl::MakeSpan(buffer.data(), count)));
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(buffer.data()), count);
    offset += count;
  }
  return static_cast<uint32_t>(crc);
}

absl::Status SafetensorsFile::Read(int64_t begin_bytes,
                                   absl::Span<std::byte> out) const {
  CHECK_GE(begin_bytes, 0);
  CHECK_LE(begin_bytes + static_cast<int64_t>(out.size()),
           size_bytes_ - data_offset_bytes_)
      << path_;
  return ReadAt(data_offset_bytes_ + begin_bytes, out);
}

}  // namespace paceline
