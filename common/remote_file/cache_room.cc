#include "common/remote_file/cache_room.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file_descriptor.h"
#include "common/base/status_macros.h"
#include "common/remote_file/cache_entry.h"
#include "common/remote_file/file_version.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

struct Kept {
  std::string path;
  // Unless empty, the lock of the entry whose part this is.
  std::string lock;
  int64_t bytes = 0;
  // Since when it is unused, by the clock of the file system.
  std::pair<int64_t, int64_t> used;
};

std::vector<fs::directory_entry> EntriesOf(const fs::path& folder) {
  std::vector<fs::directory_entry> entries;
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    entries.push_back(*each);
  }
  return entries;
}

bool IsFolder(const fs::directory_entry& entry) {
  std::error_code error;
  return fs::is_directory(entry.symlink_status(error));
}

void Add(const std::string& path, const std::string& lock, int64_t promised,
         std::vector<Kept>& kept) {
  struct stat information = {};
  if (lstat(path.c_str(), &information) != 0) return;
  const int64_t bytes = std::max<int64_t>(information.st_size, promised);
  if (bytes == 0) return;
  kept.push_back({path,
                  lock,
                  bytes,
                  {information.st_mtim.tv_sec, information.st_mtim.tv_nsec}});
}

// All files but the part of `own`.
std::vector<Kept> KeptIn(const std::string& cache, const std::string& own) {
  std::vector<Kept> kept;
  for (const fs::directory_entry& entry : EntriesOf(cache)) {
    if (!IsFolder(entry)) continue;
    const std::string folder = entry.path().string();
    for (const fs::directory_entry& version : EntriesOf(folder)) {
      if (!IsFolder(version)) continue;
      for (const fs::directory_entry& file : EntriesOf(version.path())) {
        Add(file.path().string(), "", 0, kept);
      }
    }
    if (folder == own) continue;
    const std::string part = folder + "/part";
    const FileVersion promised =
        ReadVersion(part + ".version").value_or(FileVersion());
    Add(part, folder + "/lock", promised.bytes, kept);
  }
  return kept;
}

// Returns whether it has removed the file, which nobody used.
bool Remove(const Kept& file) {
  const std::string& locked = file.lock.empty() ? file.path : file.lock;
  const FileDescriptor lock(
      open(locked.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!lock.is_open() || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return false;
  }
  if (unlink(file.path.c_str()) != 0) return false;
  if (file.lock.empty()) {
    rmdir(fs::path(file.path).parent_path().c_str());
  } else {
    unlink((file.path + ".version").c_str());
  }
  return true;
}

}  // namespace

absl::Status MakeRoom(const std::string& cache, const std::string& own,
                      int64_t bytes, int64_t limit, absl::Duration patience) {
  ASSIGN_OR_RETURN(
      const FileDescriptor lock,
      LockFile(cache + "/lock", patience, [] { return int64_t{0}; }));
  std::vector<Kept> kept = KeptIn(cache, own);
  std::sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) {
    return std::tie(a.used, a.path) < std::tie(b.used, b.path);
  });
  int64_t total = 0;
  for (const Kept& file : kept) total += file.bytes;
  for (const Kept& file : kept) {
    if (total <= limit - bytes) return absl::OkStatus();
    if (Remove(file)) total -= file.bytes;
  }
  if (total <= limit - bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "needs ", bytes, " bytes, and ", total, " of the ", limit,
      " of the cache ", cache, " are in use; expected a larger limit"));
}

}  // namespace paceline
