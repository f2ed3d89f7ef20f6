// A group whose ranks are threads of one process: replicas on several devices.
#ifndef PACELINE_WORKER_COLLECTIVE_MEMORY_TRANSPORT_H_
#define PACELINE_WORKER_COLLECTIVE_MEMORY_TRANSPORT_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "worker/collective/transport.h"

namespace paceline {

// Creates the transports of all ranks. A receiver reads directly from the
// sender's memory, without a copy in between. Must outlive the transports.
class MemoryGroup {
 public:
  // `timeout`: how long a rank waits for another one in an exchange.
  MemoryGroup(int world_size, absl::Duration timeout);
  ~MemoryGroup();

  // The transport of `rank`; to be used by one thread.
  std::unique_ptr<Transport> MakeTransport(int rank);

 private:
  friend class MemoryTransport;

  // The message under way from one rank to another.
  struct Mailbox {
    enum class State { kEmpty, kFull, kBeingRead };
    State state = State::kEmpty;
    absl::Span<const std::byte> message;
  };

  Mailbox& MailboxOf(int from, int to) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return mailboxes_[from * world_size_ + to];
  }
  // Blocks `rank`, which waits for `other`, until the mailbox between them is
  // in `state`.
  absl::Status WaitUntil(int rank, int other, const Mailbox& mailbox,
                         Mailbox::State state, absl::Time deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Each rank waits for at most one other rank. This is the rank at the end of
  // the chain that starts at `rank`.
  int Culprit(int rank) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int world_size_;
  const absl::Duration timeout_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<Mailbox> mailboxes_ ABSL_GUARDED_BY(mutex_);
  // By rank: the rank that it waits for; -1: none.
  std::vector<int> waits_for_ ABSL_GUARDED_BY(mutex_);
  absl::Status aborted_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_MEMORY_TRANSPORT_H_
