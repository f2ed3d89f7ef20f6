#include "common/base/random_access.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/errno_error.h"
#include "common/base/file_descriptor.h"
#include "glog/logging.h"

namespace paceline {
namespace {

void CheckRange(int64_t offset_bytes, size_t count, int64_t size_bytes) {
  CHECK_GE(offset_bytes, 0);
  CHECK_LE(offset_bytes, size_bytes);
  CHECK_LE(count, static_cast<uint64_t>(size_bytes - offset_bytes));
}

class OpenFile final : public RandomAccess {
 public:
  OpenFile(std::string path, FileDescriptor file, int64_t size_bytes)
      : path_(std::move(path)),
        file_(std::move(file)),
        size_bytes_(size_bytes) {}

  int64_t size_bytes() const override { return size_bytes_; }

  absl::Status ReadAt(int64_t offset_bytes,
                      absl::Span<std::byte> out) override {
    CheckRange(offset_bytes, out.size(), size_bytes_);
    while (!out.empty()) {
      const ssize_t count =
          pread(file_.get(), out.data(), out.size(), offset_bytes);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return ErrnoError("cannot read", path_);
      if (count == 0) {
        return absl::DataLossError(
            absl::StrCat(path_, ": became shorter while it was read"));
      }
      out.remove_prefix(static_cast<size_t>(count));
      offset_bytes += count;
    }
    return absl::OkStatus();
  }

 private:
  const std::string path_;
  const FileDescriptor file_;
  const int64_t size_bytes_;
};

class Memory final : public RandomAccess {
 public:
  explicit Memory(std::string bytes) : bytes_(std::move(bytes)) {}

  int64_t size_bytes() const override {
    return static_cast<int64_t>(bytes_.size());
  }

  absl::Status ReadAt(int64_t offset_bytes,
                      absl::Span<std::byte> out) override {
    CheckRange(offset_bytes, out.size(), size_bytes());
    const auto* begin =
        reinterpret_cast<const std::byte*>(bytes_.data()) + offset_bytes;
    std::copy(begin, begin + out.size(), out.begin());
    return absl::OkStatus();
  }

 private:
  const std::string bytes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RandomAccess>> OpenRandomAccess(
    const std::string& path) {
  // A pipe would block.
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat information = {};
  if (!file.is_open() || fstat(file.get(), &information) != 0) {
    return ErrnoError("cannot open", path);
  }
  if (!S_ISREG(information.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": expected a regular file"));
  }
  return std::make_unique<OpenFile>(path, std::move(file), information.st_size);
}

std::unique_ptr<RandomAccess> RandomAccessTo(std::string bytes) {
  return std::make_unique<Memory>(std::move(bytes));
}

}  // namespace paceline
