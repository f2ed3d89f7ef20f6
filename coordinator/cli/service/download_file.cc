#include "coordinator/cli/service/download_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/errno_error.h"
#include "common/base/file_descriptor.h"
#include "common/base/peer_text.h"
#include "common/base/relative_path.h"
#include "common/base/status_macros.h"
#include "common/base/write_all.h"
#include "common/identity/sha256.h"
#include "common/transfer/job_paths.h"
#include "coordinator/cli/service/job_calls.h"

namespace paceline {
namespace {

constexpr char kPartSuffix[] = ".part";
constexpr size_t kReadBytes = 1 << 20;

// What there is of a file that is being downloaded. Not thread-safe.
class PartialFile {
 public:
  // Opens or creates the file, of which nothing counts beyond `max_bytes`.
  // FailedPrecondition if it is a link.
  static absl::StatusOr<PartialFile> Open(const std::string& path,
                                          uint64_t max_bytes) {
    FileDescriptor file(
        open(path.c_str(),
             O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
    if (!file.is_open()) return ErrnoError("cannot write", path);
    struct stat information = {};
    if (fstat(file.get(), &information) != 0 || !S_ISREG(information.st_mode)) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, ": expected a regular file"));
    }
    PartialFile partial(std::move(file), path);
    if (static_cast<uint64_t>(information.st_size) > max_bytes) {
      RETURN_IF_ERROR(partial.Clear());
    }
    RETURN_IF_ERROR(partial.HashAll());
    return partial;
  }

  uint64_t size() const { return size_; }
  std::string hash() const { return hash_.Hex(); }

  absl::Status Append(absl::string_view bytes) {
    hash_.Update(bytes);
    RETURN_IF_ERROR(WriteAllAt(file_, path_, size_, bytes));
    size_ += bytes.size();
    return absl::OkStatus();
  }

  absl::Status Clear() {
    size_ = 0;
    hash_ = Sha256();
    if (ftruncate(file_.get(), 0) == 0) return absl::OkStatus();
    return ErrnoError("cannot write", path_);
  }

  absl::Status Sync() {
    if (fsync(file_.get()) == 0) return absl::OkStatus();
    return ErrnoError("cannot write", path_);
  }

 private:
  PartialFile(FileDescriptor file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}

  absl::Status HashAll() {
    std::string piece(kReadBytes, '\0');
    for (;;) {
      const ssize_t got = pread(file_.get(), piece.data(), piece.size(),
                                static_cast<off_t>(size_));
      if (got < 0) {
        if (errno == EINTR) continue;
        return ErrnoError("cannot read", path_);
      }
      if (got == 0) return absl::OkStatus();
      hash_.Update({piece.data(), static_cast<size_t>(got)});
      size_ += static_cast<uint64_t>(got);
    }
  }

  FileDescriptor file_;
  std::string path_;
  uint64_t size_ = 0;
  Sha256 hash_;
};

// Gets what is missing.
absl::Status Fill(const VerbContext& context, const v1::JobFile& file,
                  PartialFile& partial) {
  v1::GetFileRequest request;
  request.set_sha256(file.sha256());
  while (partial.size() < file.size_bytes()) {
    request.set_offset(partial.size());
    ASSIGN_OR_RETURN(
        const v1::GetFileResponse piece,
        PatientlyGet<v1::GetFileResponse>(context, context.patience, [&] {
          return context.client.GetFile(request);
        }));
    if (piece.content().empty() ||
        piece.content().size() > file.size_bytes() - partial.size()) {
      return absl::DataLossError(
          absl::StrCat(context.client.description(), " has other bytes of ",
                       PeerText(file.path()), " than the ", file.size_bytes(),
                       " that it tells of"));
    }
    RETURN_IF_ERROR(partial.Append(piece.content()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> DownloadPath(const std::string& path_in_job) {
  const std::string path(
      absl::StripPrefix(path_in_job, absl::StrCat(kOutputFolder, "/")));
  if (StaysBelow(path)) return path;
  return absl::DataLossError(
      absl::StrCat("the coordinator tells of a file \"", PeerText(path_in_job),
                   "\"; expected a path below the job's folder"));
}

absl::StatusOr<std::pair<Folder, std::string>> OpenParent(
    const Folder& root, const std::string& path) {
  const std::vector<std::string> parts = absl::StrSplit(path, '/');
  ASSIGN_OR_RETURN(Folder folder, Folder::Open(root.PathOf(".")));
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (mkdir(folder.PathOf(parts[i]).c_str(), 0777) != 0 && errno != EEXIST) {
      return ErrnoError("cannot create folder", folder.PathOf(parts[i]));
    }
    ASSIGN_OR_RETURN(Folder below, folder.OpenBelow(parts[i]));
    folder = std::move(below);
  }
  return std::pair<Folder, std::string>(std::move(folder), parts.back());
}

absl::Status DownloadFile(const VerbContext& context, const v1::JobFile& file,
                          const Folder& root, const std::string& path) {
  auto parent = OpenParent(root, path);
  RETURN_IF_ERROR(parent.status());
  const auto& [folder, name] = *parent;
  if (HasContentOf(file, folder.PathOf(name))) return absl::OkStatus();
  RETURN_IF_ERROR(folder.CheckReplaceable(name));
  const std::string part = name + kPartSuffix;
  ASSIGN_OR_RETURN(PartialFile partial,
                   PartialFile::Open(folder.PathOf(part), file.size_bytes()));
  const bool resumes = partial.size() > 0;
  RETURN_IF_ERROR(Fill(context, file, partial));
  if (resumes && partial.hash() != file.sha256()) {
    // What was there may be of another file.
    RETURN_IF_ERROR(partial.Clear());
    RETURN_IF_ERROR(Fill(context, file, partial));
  }
  if (partial.hash() != file.sha256()) {
    folder.Remove(part);
    return absl::DataLossError(absl::StrCat(
        folder.PathOf(name), ": what ", context.client.description(),
        " sent does not have the file's SHA-256"));
  }
  RETURN_IF_ERROR(partial.Sync());
  return folder.Rename(part, name);
}

}  // namespace paceline
