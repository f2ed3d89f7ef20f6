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

// Makes the transports of all ranks. A receiver reads the sender's memory, so
// nothing is copied. Outlives its transports.
class MemoryGroup {
 public:
  // `timeout` bounds how long a rank waits for another one in an exchange.
  MemoryGroup(int world_size, absl::Duration timeout);
  ~MemoryGroup();

  // The end of `rank`; to be used by one thread.
  std::unique_ptr<Transport> MakeTransport(int rank);

 private:
  friend class MemoryTransport;

  // What is under way from one rank to another.
  struct Mailbox {
    enum class State { kEmpty, kFull, kBeingRead };
    State state = State::kEmpty;
    absl::Span<const std::byte> message;
  };

  Mailbox& MailboxOf(int from, int to) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return mailboxes_[from * world_size_ + to];
  }
  // Has `rank` wait for `other` until the mailbox between them is in a state.
  absl::Status WaitUntil(int rank, int other, const Mailbox& mailbox,
                         Mailbox::State state, absl::Time deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The rank at the end of the chain of those who wait for each other.
  int Culprit(int rank) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int world_size_;
  const absl::Duration timeout_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<Mailbox> mailboxes_ ABSL_GUARDED_BY(mutex_);
  // By rank, whom it waits for; -1: nobody.
  std::vector<int> waits_for_ ABSL_GUARDED_BY(mutex_);
  absl::Status aborted_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_MEMORY_TRANSPORT_H_
