#include "worker/collective/memory_transport.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"

namespace paceline {

class MemoryTransport : public Transport {
 public:
  MemoryTransport(MemoryGroup& group, int rank) : group_(group), rank_(rank) {}

  int rank() const override { return rank_; }
  int world_size() const override { return group_.world_size_; }
  std::string NameOf(int rank) const override {
    return absl::StrCat("replica ", rank);
  }

  absl::Status Exchange(int to, absl::Span<const std::byte> out, int from,
                        size_t in_size, Sink sink) override {
    const absl::Time deadline = MonotonicNow() + group_.timeout_;
    {
      MutexLock lock(group_.mutex_);
      RETURN_IF_ERROR(group_.aborted_);
      if (!out.empty()) {
        group_.MailboxOf(rank_, to) = {Mailbox::State::kFull, out};
        group_.changed_.NotifyAll();
      }
    }
    const absl::Status received =
        in_size > 0 ? Receive(from, in_size, sink, deadline) : absl::OkStatus();
    return out.empty() ? received : AwaitTaken(to, received, deadline);
  }

  void Abort(const absl::Status& reason) override {
    MutexLock lock(group_.mutex_);
    if (group_.aborted_.ok()) group_.aborted_ = reason;
    group_.changed_.NotifyAll();
  }

 private:
  using Mailbox = MemoryGroup::Mailbox;

  absl::Status Receive(int from, size_t size, Sink sink, absl::Time deadline) {
    Mailbox* mailbox = nullptr;
    absl::Span<const std::byte> message;
    {
      MutexLock lock(group_.mutex_);
      mailbox = &group_.MailboxOf(from, rank_);
      RETURN_IF_ERROR(group_.WaitUntil(rank_, from, *mailbox,
                                       Mailbox::State::kFull, deadline));
      mailbox->state = Mailbox::State::kBeingRead;
      message = mailbox->message;
    }
    if (message.size() == size) sink(0, message);
    MutexLock lock(group_.mutex_);
    mailbox->state = Mailbox::State::kEmpty;
    group_.changed_.NotifyAll();
    if (message.size() == size) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat(NameOf(from), " sent ", message.size(), " bytes to ",
                     NameOf(rank_), ", which expects ", size));
  }

  // Waits until the receiver has taken the message. On an error, takes the
  // message back, so that the caller may reuse its memory in any case.
  absl::Status AwaitTaken(int to, absl::Status status, absl::Time deadline) {
    MutexLock lock(group_.mutex_);
    Mailbox& mailbox = group_.MailboxOf(rank_, to);
    if (status.ok()) {
      status = group_.WaitUntil(rank_, to, mailbox, Mailbox::State::kEmpty,
                                deadline);
    }
    // A receiver that reads is computing and waits for nobody, so this wait is
    // short.
    while (mailbox.state == Mailbox::State::kBeingRead) {
      group_.changed_.WaitFor(group_.mutex_, absl::Seconds(1));
    }
    mailbox.state = Mailbox::State::kEmpty;
    return status;
  }

  MemoryGroup& group_;
  const int rank_;
};

MemoryGroup::MemoryGroup(int world_size, absl::Duration timeout)
    : world_size_(world_size),
      timeout_(timeout),
      mailboxes_(static_cast<size_t>(world_size) * world_size),
      waits_for_(world_size, -1) {}

MemoryGroup::~MemoryGroup() = default;

std::unique_ptr<Transport> MemoryGroup::MakeTransport(int rank) {
  return std::make_unique<MemoryTransport>(*this, rank);
}

absl::Status MemoryGroup::WaitUntil(int rank, int other, const Mailbox& mailbox,
                                    Mailbox::State state, absl::Time deadline) {
  waits_for_[rank] = other;
  while (mailbox.state != state) {
    RETURN_IF_ERROR(aborted_);
    const absl::Duration left = deadline - MonotonicNow();
    if (left <= absl::ZeroDuration()) {
      // waits_for_ stays set, so that ranks that wait for this rank blame the
      // rank at the end of the chain.
      return absl::DeadlineExceededError(
          absl::StrCat("replica ", Culprit(other), " did not come within ",
                       absl::FormatDuration(timeout_)));
    }
    changed_.WaitFor(mutex_, left);
  }
  waits_for_[rank] = -1;
  return absl::OkStatus();
}

int MemoryGroup::Culprit(int rank) const {
  for (int i = 0; i < world_size_ && waits_for_[rank] >= 0; ++i) {
    rank = waits_for_[rank];
  }
  return rank;
}

}  // namespace paceline
