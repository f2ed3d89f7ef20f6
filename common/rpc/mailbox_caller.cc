#include "common/rpc/mailbox_caller.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "common/rpc/incarnation.h"

namespace paceline {
namespace {

void Fill(const DenseValues& block, DenseBuffer& buffer) {
  std::memcpy(buffer.values.data(), block.values.data(), block.values.size());
  buffer.is_filled = true;
  buffer.version = block.version;
  buffer.dtype = block.dtype;
}

}  // namespace

absl::StatusOr<std::shared_ptr<MailboxCaller>> MailboxCaller::Create(
    size_t values_size) {
  const uint64_t token = DrawIncarnation();
  ASSIGN_OR_RETURN(CallMailbox mailbox,
                   CallMailbox::Create(values_size, token));
  ASSIGN_OR_RETURN(const RegionReference reference, mailbox.reference());
  std::shared_ptr<MailboxCaller> caller(
      new MailboxCaller(std::move(mailbox), reference, token));
  // The thread holds a reference to what it uses and ends after End, so it is
  // detached.
  std::thread([caller] { caller->Run(); }).detach();
  return caller;
}

bool MailboxCaller::Start(MailboxCall& call) {
  if (!mailbox_.is_served() || !Reserve()) return false;
  // Without the lock, so that others need not wait while values are copied.
  if (Write(call) && Post(call)) return true;
  MutexLock lock(mutex_);
  state_ = State::kFree;
  return false;
}

bool MailboxCaller::Reserve() {
  MutexLock lock(mutex_);
  if (state_ != State::kFree || end_) return false;
  state_ = State::kWriting;
  return true;
}

bool MailboxCaller::Write(const MailboxCall& call) {
  const absl::Span<std::byte> values = mailbox_.values();
  blocks_.clear();
  size_t end = 0;
  for (const DenseValues& gradients : call.gradients) {
    const size_t begin = CallMailbox::NextBlock(end);
    end = begin + gradients.values.size();
    if (end > values.size()) return false;
    std::memcpy(values.data() + begin, gradients.values.data(),
                gradients.values.size());
    blocks_.push_back(gradients);
    blocks_.back().values = values.subspan(begin, gradients.values.size());
  }
  return call.request->SerializeToString(&content_) &&
         mailbox_.Write(CallMailbox::kRequest,
                        static_cast<uint32_t>(call.method), content_, blocks_);
}

bool MailboxCaller::Post(MailboxCall& call) {
  MutexLock lock(mutex_);
  if (end_) return false;
  const bool is_urgent = call.deadline < looks_at_;
  open_ = std::move(call);
  state_ = State::kPosted;
  mailbox_.Post(CallMailbox::kRequest, ++number_);
  if (is_urgent) mailbox_.event(CallMailbox::kAnswer).Signal();
  return true;
}

bool MailboxCaller::Retire() {
  MutexLock lock(mutex_);
  if (state_ != State::kFree) return false;
  end_ = absl::CancelledError("the shared memory is given up");
  return true;
}

void MailboxCaller::End(const absl::Status& reason) {
  {
    MutexLock lock(mutex_);
    if (!end_) end_ = reason;
  }
  mailbox_.event(CallMailbox::kAnswer).Signal();
}

void MailboxCaller::Run() {
  FutexEvent& event = mailbox_.event(CallMailbox::kAnswer);
  while (true) {
    const uint32_t signals = event.signals();
    std::optional<Ended> ended;
    absl::Time wake_at;
    {
      MutexLock lock(mutex_);
      ended = NextEnded();
      if (!ended && end_) return;
      // Deadlines further away than one sleep need no wake-up: the thread looks
      // at them when the sleep ends.
      wake_at = MonotonicNow() + limits::kFutexSleep;
      if (open_) wake_at = std::min(wake_at, open_->deadline);
      looks_at_ = wake_at;
    }
    if (!ended) {
      event.Wait(signals, wake_at, absl::ZeroDuration());
      continue;
    }
    if (ended->is_answered) {
      ended->status = ReadAnswer(ended->call);
      MutexLock lock(mutex_);
      state_ = State::kFree;
    }
    ended->call.done(std::move(ended->status));
  }
}

std::optional<MailboxCaller::Ended> MailboxCaller::NextEnded() {
  if (state_ != State::kPosted) return std::nullopt;
  Ended ended;
  ended.is_answered = mailbox_.posted(CallMailbox::kAnswer) == number_;
  if (!open_) {
    // The answer arrived after the deadline.
    if (ended.is_answered) state_ = State::kFree;
    return std::nullopt;
  }
  if (!ended.is_answered) {
    if (end_) {
      ended.status = *end_;
    } else if (MonotonicNow() >= open_->deadline) {
      ended.status = absl::DeadlineExceededError("");
    } else {
      return std::nullopt;
    }
  }
  ended.call = *std::move(open_);
  open_.reset();
  return ended;
}

absl::Status MailboxCaller::ReadAnswer(const MailboxCall& call) {
  const absl::Status read = mailbox_.Read(CallMailbox::kAnswer, answer_);
  if (!read.ok()) return absl::InternalError(read.message());
  if (answer_.code != 0) {
    return {static_cast<absl::StatusCode>(answer_.code), answer_.content};
  }
  if (!call.response->ParseFromString(answer_.content)) {
    return absl::InternalError("the answer cannot be parsed");
  }
  for (const DenseValues& block : answer_.blocks) {
    const auto buffer =
        FindBuffer(block.index, block.values.size(), call.variables);
    if (!buffer.ok()) return absl::InternalError(buffer.status().message());
    Fill(block, **buffer);
  }
  return absl::OkStatus();
}

}  // namespace paceline
