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
    absl::Span<const std::byte> message;
    {
      MutexLock lock(group_.mutex_);
      RETURN_IF_ERROR(group_.aborted_);
      if (!out.empty()) {
        group_.MailboxOf(rank_, to) = {true, out};
        group_.changed_.NotifyAll();
      }
      if (in_size > 0) {
        MemoryGroup::Mailbox& in = group_.MailboxOf(from, rank_);
        RETURN_IF_ERROR(group_.WaitUntil(rank_, from, in, true, deadline));
        message = in.message;
      }
    }
    if (message.size() != in_size) {
      return absl::FailedPreconditionError(
          absl::StrCat(NameOf(from), " sent ", message.size(), " bytes to ",
                       NameOf(rank_), ", which expects ", in_size));
    }
    if (in_size > 0) sink(0, message);
    MutexLock lock(group_.mutex_);
    if (in_size > 0) {
      group_.MailboxOf(from, rank_).is_full = false;
      group_.changed_.NotifyAll();
    }
    if (out.empty()) return absl::OkStatus();
    return group_.WaitUntil(rank_, to, group_.MailboxOf(rank_, to), false,
                            deadline);
  }

  void Abort(const absl::Status& reason) override {
    MutexLock lock(group_.mutex_);
    if (group_.aborted_.ok()) group_.aborted_ = reason;
    group_.changed_.NotifyAll();
  }

 private:
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
                                    bool is_full, absl::Time deadline) {
  while (mailbox.is_full != is_full) {
    RETURN_IF_ERROR(aborted_);
    const absl::Duration left = deadline - MonotonicNow();
    if (left <= absl::ZeroDuration()) {
      return absl::DeadlineExceededError(
          absl::StrCat("replica ", Culprit(other), " did not come within ",
                       absl::FormatDuration(timeout_)));
    }
    waits_for_[rank] = other;
    changed_.WaitFor(mutex_, left);
    waits_for_[rank] = -1;
  }
  return absl::OkStatus();
}

int MemoryGroup::Culprit(int rank) const {
  for (int i = 0; i < world_size_ && waits_for_[rank] >= 0; ++i) {
    rank = waits_for_[rank];
  }
  return rank;
}

}  // namespace paceline
