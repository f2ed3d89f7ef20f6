// A URL's place in the cache.
//
//   CACHE/lock               held while room is made (cache_room.h)
//   CACHE/HASH/lock          held by who asks the server and downloads, or
//                            removes files of the entry
//   CACHE/HASH/version       of the complete file (file_version.h)
//   CACHE/HASH/SHA256/NAME   the complete file, on which its users have shared
//                            locks
//   CACHE/HASH/part          what has come of the next one; changed while who
//                            downloads gets further
//   CACHE/HASH/part.version  of which version that is
//   CACHE/HASH/part.synced   how much of it a loss of power leaves
//   CACHE/HASH/part.room     what room it has been promised (cache_room.h)
//
// HASH is that of the URL. Locks are those of flock: they end with the process.
#ifndef PACELINE_COMMON_REMOTE_FILE_CACHE_ENTRY_H_
#define PACELINE_COMMON_REMOTE_FILE_CACHE_ENTRY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/file_descriptor.h"
#include "common/remote_file/cached_file.h"
#include "common/remote_file/file_version.h"

namespace paceline {

// Locks the file `path`, which is made if it is not there. DeadlineExceeded
// once another process has had it for `patience` since `progress` last
// returned another number; `progress` is called every 50 ms. Blocks.
absl::StatusOr<FileDescriptor> LockFile(
    const std::string& path, absl::Duration patience,
    const std::function<int64_t()>& progress);

// Removes what is noted of the part in the entry's `folder`.
void RemoveNotesOfPart(const std::string& folder);

// Has the entry's lock, so no other process downloads to it. Errors name
// paths. Not thread-safe. Methods block on the disk.
class CacheEntry {
 public:
  // `address` identifies the file, `name` is that of its copy. Waits for other
  // processes as LockFile does, and calls `waits` while it does: with true each
  // time that they have got further.
  static absl::StatusOr<CacheEntry> Open(
      const std::string& cache, const std::string& address,
      const std::string& name, absl::Duration patience,
      const std::function<void(bool goes_on)>& waits);

  // The complete file, which counts as used now; nullopt: there is none.
  std::optional<CachedFile> Find() const;
  // What the server said of it.
  FileVersion version() const;

  // What has come, and of which version. If the machine has started anew since
  // then, only what had been synced counts: the rest may never have got to the
  // disk.
  int64_t part_bytes() const { return part_bytes_; }
  const FileVersion& part_version() const { return part_version_; }

  // Drops what has come, and begins anew with a file of `version`, which has no
  // room yet.
  absl::Status Begin(const FileVersion& version);
  // What the server says of the whole file's size, if it did not say it before.
  absl::Status SetPartSize(int64_t bytes);
  // Adds to what has come, and syncs it every 64 MiB, so that a loss of power
  // costs no more, and no call blocks for long, Complete included.
  absl::Status Append(absl::string_view bytes);
  // Has processes that wait for the entry's lock see that this one gets
  // further, as Append does.
  void ShowProgress() const;
  absl::Status DropPart();
  // Makes what has come the complete file, whose SHA-256 is `sha256`.
  absl::StatusOr<CachedFile> Complete(const std::string& sha256);

  std::string part_path() const { return folder_ + "/part"; }
  const std::string& folder() const { return folder_; }

 private:
  CacheEntry(std::string folder, std::string name, FileDescriptor lock);

  std::string PathOf(const FileVersion& version) const;
  // Opens the part, and sets the fields below.
  absl::Status OpenPart();
  // Has the disk keep all that has come.
  absl::Status SyncPart();

  std::string folder_;
  std::string name_;
  FileDescriptor lock_;
  FileDescriptor part_;
  int64_t part_bytes_ = 0;
  // Of which the disk has so many.
  int64_t synced_bytes_ = 0;
  FileVersion part_version_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_REMOTE_FILE_CACHE_ENTRY_H_
