#include "common/remote_file/remote_files.h"

#include <glog/logging.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/errno_error.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/identity/sha256.h"
#include "common/remote_file/cache_entry.h"
#include "common/remote_file/download.h"

namespace paceline {
namespace {

constexpr absl::Duration kNewsInterval = absl::Seconds(30);

// Says that another process downloads the file, every now and then.
class WaitingLog {
 public:
  explicit WaitingLog(const RemoteUrl& url) : url_(url) {}

  void Waits() {
    const absl::Time now = MonotonicNow();
    if (now < next_) return;
    next_ = now + kNewsInterval;
    LOG(INFO) << url_.Shown() << ": waits for the process that downloads it";
  }

 private:
  const RemoteUrl& url_;
  absl::Time next_ = absl::InfinitePast();
};

// The part's hash, if it is what the URL and the server say.
absl::StatusOr<std::string> Verify(const RemoteUrl& url,
                                   const CacheEntry& entry,
                                   const std::function<void()>& on_progress) {
  ASSIGN_OR_RETURN(const v1::JobFile file,
                   HashFile(entry.part_path(), entry.part_path(), [&] {
                     entry.ShowProgress();
                     on_progress();
                   }));
  const std::pair<const char*, std::string> expected[] = {
      {"the URL", url.sha256}, {"S3", entry.part_version().sha256}};
  for (const auto& [who, sha256] : expected) {
    if (sha256.empty() || sha256 == file.sha256()) continue;
    return absl::DataLossError(absl::StrCat("the content has SHA-256 ",
                                            file.sha256(), "; expected ",
                                            sha256, ", which ", who, " gives"));
  }
  return file.sha256();
}

absl::StatusOr<CachedFile> FetchTo(CacheEntry& entry, const RemoteUrl& url,
                                   const RemoteFilesOptions& options,
                                   const std::function<void()>& on_progress) {
  std::optional<CachedFile> copy = entry.Find();
  if (copy && !url.sha256.empty()) {
    if (entry.version().sha256 == url.sha256) return *std::move(copy);
    copy.reset();
  }
  const absl::Time begin = MonotonicNow();
  Download download(options, url, entry, copy, on_progress);
  RETURN_IF_ERROR(download.Run());
  if (download.is_unchanged()) return *std::move(copy);
  const absl::StatusOr<std::string> sha256 = Verify(url, entry, on_progress);
  if (!sha256.ok()) {
    RETURN_IF_ERROR(entry.DropPart());
    return sha256.status();
  }
  LOG(INFO) << url.Shown() << ": " << entry.part_bytes() << " bytes, SHA-256 "
            << *sha256 << ", in "
            << absl::FormatDuration(
                   absl::Trunc(MonotonicNow() - begin, absl::Milliseconds(1)));
  return entry.Complete(*sha256);
}

// A new one is its owner's alone, from the first moment on: others' data are
// nobody's business.
absl::Status MakeCache(const std::string& folder) {
  struct stat found;
  if (stat(folder.c_str(), &found) == 0) return absl::OkStatus();
  // Without a slash at its end.
  const std::filesystem::path path =
      (std::filesystem::path(folder) / "").parent_path();
  if (path.has_parent_path()) {
    RETURN_IF_ERROR(MakeDirectories(path.parent_path().string()));
  }
  if (mkdir(path.c_str(), S_IRWXU) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  return ErrnoError("cannot create folder", folder);
}

}  // namespace

absl::StatusOr<CachedFile> RemoteFiles::Fetch(
    const std::string& text, const std::function<void()>& on_progress) const {
  ASSIGN_OR_RETURN(const RemoteUrl url, ParseRemoteUrl(text));
  const auto fetch = [&]() -> absl::StatusOr<CachedFile> {
    if (url.FileName().empty()) {
      return absl::InvalidArgumentError(
          "expected a URL that ends with the name of a file");
    }
    if (options_.allowed) {
      RETURN_IF_ERROR(CheckAllowed(url, *options_.allowed));
    }
    if (options_.folder.empty()) {
      return absl::InvalidArgumentError(
          "there is no folder for the cache; expected --data-cache");
    }
    RETURN_IF_ERROR(MakeCache(options_.folder));
    WaitingLog log(url);
    ASSIGN_OR_RETURN(
        CacheEntry entry,
        CacheEntry::Open(options_.folder, url.Address(), url.FileName(),
                         options_.network.patience, [&](bool goes_on) {
                           log.Waits();
                           if (goes_on) on_progress();
                         }));
    return FetchTo(entry, url, options_, on_progress);
  };
  absl::StatusOr<CachedFile> file = fetch();
  if (!file.ok()) return Annotate(file.status(), url.Shown());
  return file;
}

}  // namespace paceline
