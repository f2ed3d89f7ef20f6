// What the tasks of a service's jobs have written to their standard output and
// error, in a folder:
//
//   <job's id>/<generation>/worker-0.log
//
// A log comes in pieces from the task's daemon, each with the place where it
// belongs. A log that has reached its limit ends with a line that says so.
#ifndef PACELINE_COORDINATOR_STORE_LOG_STORE_H_
#define PACELINE_COORDINATOR_STORE_LOG_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/mutex.h"
#include "common/cluster/task.h"

namespace paceline {

struct LogStoreOptions {
  // Of one task's log.
  uint64_t max_log_bytes = 64 << 20;
  // See CheckDiskReserve.
  uint64_t min_free_bytes = 0;
};

struct LogPiece {
  std::string text;
  // Where the next piece begins.
  uint64_t next_offset = 0;
};

// Thread-safe: pieces are appended one after the other, and reading waits for
// nobody. Calls block on the disk, but do not sync: the machine's death may
// take the end of a log. Then Append tells the daemon to go back.
//
// InvalidArgument: a job's id is no safe name (common/base/names.h).
class LogStore {
 public:
  // Opens the store, or creates its folder.
  static absl::StatusOr<std::unique_ptr<LogStore>> Open(
      const std::string& folder, const LogStoreOptions& options);

  // Adds the text that begins at `offset` of what the task has written. Returns
  // where the next piece should begin. If this one begins elsewhere, it is not
  // taken. Beyond the limit, all pieces are taken, and dropped.
  // ResourceExhausted: the disk has no room for it.
  absl::StatusOr<uint64_t> Append(const std::string& job_id,
                                  uint32_t generation, TaskId task,
                                  uint64_t offset, absl::string_view text);

  // At most `max_bytes` from `offset` on, or from -`offset` bytes before the
  // end; none at the end, or behind it. NotFound: there is no such log.
  absl::StatusOr<LogPiece> Read(const std::string& job_id, uint32_t generation,
                                TaskId task, int64_t offset,
                                uint64_t max_bytes) const;

  // The size of each job's logs.
  std::map<std::string, uint64_t> BytesByJob() const;

  // Deletes the job's logs, if it has any.
  absl::Status Remove(const std::string& job_id);

  // Deletes the logs of all other jobs: after a restart, of those whose logs
  // the coordinator could not delete any more.
  absl::Status RemoveAllBut(const std::set<std::string>& job_ids);

 private:
  LogStore(std::string folder, const LogStoreOptions& options)
      : folder_(std::move(folder)), options_(options) {}

  // Counts what is there.
  absl::Status FindAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string FolderOf(const std::string& job_id, uint32_t generation) const;

  const std::string folder_;
  const LogStoreOptions options_;
  // Held while files are changed.
  mutable Mutex mutex_;
  // Of those that have logs.
  std::map<std::string, uint64_t> bytes_of_job_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_STORE_LOG_STORE_H_
