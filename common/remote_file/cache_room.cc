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

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/errno_error.h"
#include "common/base/file.h"
#include "common/base/file_descriptor.h"
#include "common/base/status_macros.h"
#include "common/base/write_all.h"
#include "common/remote_file/cache_entry.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// Of the file that says what room an entry has been promised.
constexpr int64_t kMaxPromiseBytes = 100;

struct Kept {
  // Of the entry.
  std::string folder;
  std::string path;
  bool is_part = false;
  int64_t bytes = 0;
  // Since when it is unused, by the clock of the file system.
  std::pair<int64_t, int64_t> used = {};
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

// Adds it unless it is empty, and nothing is `promised`.
void Add(Kept file, int64_t promised, std::vector<Kept>& kept) {
  struct stat information = {};
  if (lstat(file.path.c_str(), &information) != 0) return;
  file.bytes = std::max<int64_t>(information.st_size, promised);
  file.used = {information.st_mtim.tv_sec, information.st_mtim.tv_nsec};
  if (file.bytes > 0) kept.push_back(std::move(file));
}

// Where it is written how many bytes of room the entry's part has been
// promised.
std::string PromisePath(const std::string& folder) {
  return folder + "/part.room";
}

// 0: none.
int64_t PromiseTo(const std::string& folder) {
  int64_t bytes = 0;
  const absl::StatusOr<std::string> text =
      ReadFile(PromisePath(folder), kMaxPromiseBytes);
  return text.ok() && absl::SimpleAtoi(*text, &bytes) && bytes > 0 ? bytes : 0;
}

// Whoever reads it has the cache's lock, as whoever writes it. It need not
// outlive a loss of power, after which who goes on with a part asks for room
// anew; so nobody waits for the disk.
absl::Status Promise(const std::string& folder, int64_t bytes) {
  const std::string path = PromisePath(folder);
  const FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
           0600));
  if (!file.is_open()) return ErrnoError("cannot open", path);
  return WriteAll(file, path, absl::StrCat(bytes));
}

// All files but the part of `own`.
std::vector<Kept> KeptIn(const std::string& cache, const std::string& own) {
  std::vector<Kept> kept;
  for (const fs::directory_entry& entry : EntriesOf(cache)) {
    if (!IsFolder(entry)) continue;
    const std::string folder = entry.path().string();
    // The part first: if it becomes a complete file meanwhile, it counts twice.
    if (folder != own) {
      Add({folder, folder + "/part", /*is_part=*/true}, PromiseTo(folder),
          kept);
    }
    for (const fs::directory_entry& version : EntriesOf(folder)) {
      if (!IsFolder(version)) continue;
      for (const fs::directory_entry& file : EntriesOf(version.path())) {
        Add({folder, file.path().string()}, 0, kept);
      }
    }
  }
  return kept;
}

// Not open if another process has a lock on the file.
FileDescriptor TryLock(const std::string& path) {
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.is_open() || flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return FileDescriptor();
  }
  return file;
}

// Returns whether it has removed the file, which nobody used. It has the lock
// of the file's entry meanwhile, lest another process completes a file in its
// place; whoever makes room has that of `own`.
bool Remove(const Kept& file, const std::string& own) {
  FileDescriptor entry;
  if (file.folder != own) {
    entry = TryLock(file.folder + "/lock");
    if (!entry.is_open()) return false;
  }
  if (file.is_part) {
    RemoveNotesOfPart(file.folder);
    return unlink(file.path.c_str()) == 0;
  }
  const FileDescriptor users = TryLock(file.path);
  if (!users.is_open() || unlink(file.path.c_str()) != 0) return false;
  rmdir(fs::path(file.path).parent_path().c_str());
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
    if (total <= limit - bytes) break;
    if (Remove(file, own)) total -= file.bytes;
  }
  if (total <= limit - bytes) {
    return Promise(own, bytes);
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "needs ", bytes, " bytes, and ", total, " of the ", limit,
      " of the cache ", cache, " are in use; expected a larger limit"));
}

}  // namespace paceline
