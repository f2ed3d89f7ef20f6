// What the coordinator of a service must not forget, on disk: the records of
// its job queue, what the jobs have left, people's tokens, and its own key.
#ifndef PACELINE_COORDINATOR_STORE_QUEUE_STORE_H_
#define PACELINE_COORDINATOR_STORE_QUEUE_STORE_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/mutex.h"
#include "coordinator/queue/job_queue.h"
#include "coordinator/store/database.h"
#include "paceline/v1/queue.pb.h"
#include "paceline/v1/service.pb.h"

namespace paceline {

// What JobQueue::Create takes.
struct StoredQueue {
  std::vector<v1::JobRecord> jobs;
  std::vector<v1::DaemonRecord> daemons;
  uint64_t last_number = 0;
};

// A person's token, which itself is stored nowhere.
struct StoredToken {
  v1::TokenRecord record;
  std::string sha256;
};

struct StoredTokens {
  // By id.
  std::vector<StoredToken> tokens;
  // The highest id that there ever was; 0: there was no token.
  uint64_t last_id = 0;
};

// What a method has written survives the death of the process and of the
// machine. After an error it has written nothing. Thread-safe; calls block on
// the disk.
class QueueStore {
 public:
  // Opens the store, or creates it; see Database::Open.
  static absl::StatusOr<std::unique_ptr<QueueStore>> Open(
      const std::string& path);

  // All records, by id and name. DataLoss names the record that cannot be read.
  absl::StatusOr<StoredQueue> Load();

  // Stores and removes in one transaction. Actions that store nothing are
  // passed over. A job's outputs are removed with it.
  absl::Status Apply(absl::Span<const QueueAction> actions);

  // 32 random bytes, drawn by the first call ever, from which the coordinator
  // derives the jobs' secrets.
  absl::StatusOr<std::string> MasterKey();

  // Enters files that a job has left, in place of those with the same paths.
  // NotFound: there is no such job.
  // Forgets those with the paths in `removed`.
  absl::Status ChangeOutputs(const std::string& job_id,
                             absl::Span<const v1::JobFile> files,
                             const std::vector<std::string>& removed);
  // In the order of their paths.
  absl::StatusOr<std::vector<v1::JobFile>> Outputs(const std::string& job_id);
  // The SHA-256 of all jobs' outputs. What else is needed, the jobs' records
  // say.
  absl::StatusOr<std::set<std::string>> ReferencedFiles();

  // Enters a token, in place of that with its id.
  absl::Status StoreToken(const StoredToken& token);
  // Nothing happens if there is none.
  absl::Status RemoveToken(uint64_t id);
  // DataLoss names the token whose record cannot be read.
  absl::StatusOr<StoredTokens> LoadTokens();

 private:
  explicit QueueStore(std::unique_ptr<Database> database)
      : database_(std::move(database)) {}

  Mutex mutex_;
  const std::unique_ptr<Database> database_ ABSL_PT_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_STORE_QUEUE_STORE_H_
