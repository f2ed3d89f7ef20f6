#include "common/zip/zip_writer.h"

#include <fcntl.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/errno_error.h"
#include "common/base/file_descriptor.h"
#include "common/base/folder.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

// libzip asks for 8 KiB at a time, which would be many small reads.
constexpr int64_t kBufferBytes = 1 << 20;

// A member while libzip reads it.
class MemberSource {
 public:
  MemberSource(const ZipContent& content, absl::Status& status)
      : content_(content), status_(status) {}

  // The callback of zip_source_function.
  static zip_int64_t Call(void* self, void* data, zip_uint64_t size,
                          zip_source_cmd_t command) {
    return static_cast<MemberSource*>(self)->Run(data, size, command);
  }

 private:
  zip_int64_t Run(void* data, zip_uint64_t size, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_OPEN:
        offset_ = 0;
        buffer_ = {};
        return 0;
      case ZIP_SOURCE_READ:
        return Read(static_cast<std::byte*>(data), size);
      case ZIP_SOURCE_STAT: {
        auto& stat = *static_cast<zip_stat_t*>(data);
        zip_stat_init(&stat);
        stat.valid = ZIP_STAT_SIZE;
        stat.size = static_cast<zip_uint64_t>(content_.size_bytes);
        return sizeof(stat);
      }
      case ZIP_SOURCE_ERROR: {
        const int codes[2] = {ZIP_ER_READ, 0};
        std::memcpy(data, codes, sizeof(codes));
        return sizeof(codes);
      }
      case ZIP_SOURCE_CLOSE:
      case ZIP_SOURCE_FREE:
        return 0;
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(
            ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
            ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
      default:
        return -1;
    }
  }

  zip_int64_t Read(std::byte* out, zip_uint64_t size) {
    if (buffer_.empty()) {
      bytes_.resize(std::min(kBufferBytes, content_.size_bytes - offset_));
      status_ = content_.read(offset_, absl::MakeSpan(bytes_));
      if (!status_.ok()) return -1;
      buffer_ = bytes_;
      offset_ += static_cast<int64_t>(bytes_.size());
    }
    const size_t count = std::min<size_t>(size, buffer_.size());
    std::copy_n(buffer_.begin(), count, out);
    buffer_.remove_prefix(count);
    return static_cast<zip_int64_t>(count);
  }

  const ZipContent& content_;
  absl::Status& status_;
  // Where the member goes on after `buffer_`, the part of `bytes_` that libzip
  // has not taken.
  int64_t offset_ = 0;
  std::vector<std::byte> bytes_;
  absl::Span<const std::byte> buffer_;
};

absl::Status ZipError(const std::string& path, zip_t* archive) {
  return absl::UnavailableError(
      absl::StrCat("cannot write ", path, ": ", zip_strerror(archive)));
}

absl::Status AddMember(zip_t* archive, const std::string& path,
                       const ZipContent& content, MemberSource& source) {
  zip_source_t* const made =
      zip_source_function(archive, &MemberSource::Call, &source);
  if (made == nullptr) return ZipError(path, archive);
  const zip_int64_t index =
      zip_file_add(archive, content.name.c_str(), made, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(made);
    return ZipError(path, archive);
  }
  if (zip_set_file_compression(archive, index, ZIP_CM_STORE, 0) != 0) {
    return ZipError(path, archive);
  }
  return absl::OkStatus();
}

// Writes the archive to `path`, which must not exist.
absl::Status WriteArchive(const std::string& path,
                          absl::Span<const ZipContent> members) {
  int code = 0;
  zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_EXCL, &code);
  if (archive == nullptr) return ErrnoError("cannot write", path);
  // The error of a member's `read`.
  absl::Status read;
  std::vector<std::unique_ptr<MemberSource>> sources;
  for (const ZipContent& content : members) {
    sources.push_back(std::make_unique<MemberSource>(content, read));
    const absl::Status added =
        AddMember(archive, path, content, *sources.back());
    if (added.ok()) continue;
    zip_discard(archive);
    return added;
  }
  // This writes everything.
  if (zip_close(archive) == 0) return absl::OkStatus();
  const absl::Status written = read.ok() ? ZipError(path, archive) : read;
  zip_discard(archive);
  return written;
}

// libzip writes X.tmp as X.tmp.?????? first; a process that was killed leaves
// such a file.
void RemoveLeftovers(const std::filesystem::path& target) {
  const std::string prefix = target.filename().string() + ".tmp.";
  const std::filesystem::path folder =
      target.has_parent_path() ? target.parent_path() : ".";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (absl::StartsWith(name, prefix) && name.size() == prefix.size() + 6) {
      std::filesystem::remove(entry.path(), error);
    }
  }
}

absl::Status SyncFile(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() || fsync(file.get()) != 0) {
    return ErrnoError("cannot sync", path);
  }
  return absl::OkStatus();
}

}  // namespace

ZipContent ZipText(std::string name, std::string bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  return {
      std::move(name), size,
      [bytes = std::move(bytes)](int64_t offset, absl::Span<std::byte> out) {
        std::memcpy(out.data(), bytes.data() + offset, out.size());
        return absl::OkStatus();
      }};
}

absl::Status WriteZip(const std::string& path,
                      std::vector<ZipContent> members) {
  const std::filesystem::path target(path);
  ASSIGN_OR_RETURN(const Folder folder,
                   Folder::Open(target.parent_path().string()));
  const std::string name = target.filename().string();
  const std::string temporary = name + ".tmp";
  folder.Remove(temporary);
  RemoveLeftovers(target);
  absl::Status status = WriteArchive(path + ".tmp", members);
  if (status.ok()) status = SyncFile(path + ".tmp");
  if (status.ok()) status = folder.Rename(temporary, name);
  if (!status.ok()) {
    folder.Remove(temporary);
    return status;
  }
  return folder.Sync();
}

}  // namespace paceline
