// The files of a service's jobs, by the SHA-256 of their content, in a folder:
//
//   files/ab/abcdef…    a whole file
//   partial/abcdef…     the beginning of a file
//
// A file comes in pieces, from its beginning to its end; after a restart it
// goes on where it was. It is whole once its content has been found to have the
// SHA-256, and is on disk.
#ifndef PACELINE_COORDINATOR_STORE_FILE_STORE_H_
#define PACELINE_COORDINATOR_STORE_FILE_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/identity/sha256.h"
#include "paceline/v1/service.pb.h"

namespace paceline {

struct FileStoreOptions {
  uint64_t max_file_bytes = uint64_t{64} << 30;
  // Of all files together. Each counts in blocks of 4 KiB, so that this limits
  // the number of tiny files, too.
  uint64_t max_bytes = uint64_t{1} << 40;
  // See CheckDiskReserve.
  uint64_t min_free_bytes = 0;
};

// What a file of this size counts; an empty one counts, too.
constexpr uint64_t InBlocks(uint64_t size) { return (size / 4096 + 1) * 4096; }

// One process at a time may use the folder. Thread-safe: pieces of one file are
// appended one after the other, those of others meanwhile, and reading waits
// for nobody. Calls block on the disk.
//
// InvalidArgument: a hash is not 64 lower-case hexadecimal digits, or a file is
// larger than max_file_bytes.
class FileStore {
 public:
  // Opens the store, or creates its folder.
  static absl::StatusOr<std::unique_ptr<FileStore>> Open(
      const std::string& folder, const FileStoreOptions& options);

  // How much there is of a file; nothing, if it is unknown. Keeps a whole
  // file from the next sweeps for `min_age`, but no beginning: two that wait
  // for the last room would keep each other from it.
  absl::StatusOr<v1::FileProgress> Find(const std::string& sha256);

  // Adds a piece of a file of `size` bytes, and returns how much there is. A
  // piece that begins before the end of what is there is a repeated one, and
  // changes nothing. The first piece after a restart reads what is there.
  //
  // OutOfRange: the piece begins behind the end of what is there.
  // ResourceExhausted: there is no room for the file; says which limit is
  // reached. DataLoss: the file has all of its bytes, but another hash, or
  // what has come could not be synced; it begins anew. Unavailable: another
  // call adds to it.
  absl::StatusOr<v1::FileProgress> Append(const std::string& sha256,
                                          uint64_t size, uint64_t offset,
                                          absl::string_view bytes);

  // At most `max_bytes` of a whole file; none at its end. NotFound: it is not
  // there, or not whole. OutOfRange: the offset is behind its end. Reading its
  // first bytes keeps it from the next sweeps for `min_age`.
  absl::StatusOr<std::string> Read(const std::string& sha256, uint64_t offset,
                                   uint64_t max_bytes) const;

  // Deletes the files, whole ones and beginnings, that are not in `needed`, and
  // that nobody has written, found or begun to read for `min_age`. That must be
  // longer than what passes between finding a file and needing it. Returns how
  // many.
  absl::StatusOr<int> Sweep(const std::set<std::string>& needed,
                            absl::Duration min_age);

  // What counts against max_bytes.
  uint64_t used_bytes() const;

 private:
  // The beginning of a file.
  struct Partial {
    uint64_t received = 0;
    // A call adds to it. That alone uses the hash, without the lock, and nobody
    // else erases it.
    bool is_busy = false;
    // Of what was received; none before the first piece after a restart.
    std::optional<Sha256> hash;
  };

  FileStore(std::string folder, const FileStoreOptions& options);

  std::string WholePath(const std::string& sha256) const;
  std::string PartialPath(const std::string& sha256) const;
  absl::Status FindAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<v1::FileProgress> FindLocked(const std::string& sha256)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Unavailable: a call adds to the file. To wait for it would keep a thread of
  // the server: after a restart its hash may take minutes.
  absl::Status CheckFree(const std::string& sha256) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckLimits(const std::string& sha256, uint64_t size) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes the file busy, and counts the piece that will be added.
  Partial& Begin(const std::string& sha256, uint64_t piece_bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes back what Begin did. `added`: whether the file is whole now, or why
  // the piece could not be added.
  void End(const std::string& sha256, uint64_t piece_bytes,
           const absl::StatusOr<bool>& added)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds the piece to a busy file, and makes it whole if that was the last one.
  // Returns whether it is.
  absl::StatusOr<bool> Add(const std::string& sha256, Partial& partial,
                           uint64_t size, absl::string_view bytes) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Write(const std::string& path, Partial& partial,
                     absl::string_view bytes) const;
  absl::Status Complete(const std::string& sha256, const Partial& partial,
                        uint64_t size) const;
  void Discard(const std::string& sha256) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string folder_;
  const FileStoreOptions options_;
  mutable Mutex mutex_;
  std::map<std::string, Partial> partials_ ABSL_GUARDED_BY(mutex_);
  uint64_t used_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_STORE_FILE_STORE_H_
