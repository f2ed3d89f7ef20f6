#include "common/rpc/slot_caller.h"

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

void Fill(const DenseValues& block, DensePlace& place) {
  std::memcpy(place.values.data(), block.values.data(), block.values.size());
  place.is_filled = true;
  place.version = block.version;
  place.dtype = block.dtype;
}

}  // namespace

absl::StatusOr<std::shared_ptr<SlotCaller>> SlotCaller::Create(
    size_t values_size) {
  const uint64_t token = DrawIncarnation();
  ASSIGN_OR_RETURN(CallSlot slot, CallSlot::Create(values_size, token));
  ASSIGN_OR_RETURN(const RegionReference reference, slot.reference());
  std::shared_ptr<SlotCaller> caller(
      new SlotCaller(std::move(slot), reference, token));
  // It holds what it uses and ends with End, so nobody waits for it.
  std::thread([caller] { caller->Run(); }).detach();
  return caller;
}

bool SlotCaller::Start(SlotCall& call) {
  if (!slot_.is_served() || !Reserve()) return false;
  // Without the lock: that others need not wait while values are copied.
  if (Write(call) && Post(call)) return true;
  MutexLock lock(mutex_);
  state_ = State::kFree;
  return false;
}

bool SlotCaller::Reserve() {
  MutexLock lock(mutex_);
  if (state_ != State::kFree || end_) return false;
  state_ = State::kWriting;
  return true;
}

bool SlotCaller::Write(const SlotCall& call) {
  const absl::Span<std::byte> values = slot_.values();
  blocks_.clear();
  size_t end = 0;
  for (const DenseValues& gradients : call.gradients) {
    const size_t begin = CallSlot::NextBlock(end);
    end = begin + gradients.values.size();
    if (end > values.size()) return false;
    std::memcpy(values.data() + begin, gradients.values.data(),
                gradients.values.size());
    blocks_.push_back(gradients);
    blocks_.back().values = values.subspan(begin, gradients.values.size());
  }
  return call.request->SerializeToString(&content_) &&
         slot_.Write(CallSlot::kRequest, static_cast<uint32_t>(call.method),
                     content_, blocks_);
}

bool SlotCaller::Post(SlotCall& call) {
  MutexLock lock(mutex_);
  if (end_) return false;
  const bool is_urgent = call.deadline < looks_at_;
  open_ = std::move(call);
  state_ = State::kPosted;
  slot_.Post(CallSlot::kRequest, ++number_);
  if (is_urgent) slot_.event(CallSlot::kAnswer).Signal();
  return true;
}

bool SlotCaller::Retire() {
  MutexLock lock(mutex_);
  if (state_ != State::kFree) return false;
  end_ = absl::CancelledError("the shared memory is given up");
  return true;
}

void SlotCaller::End(const absl::Status& reason) {
  {
    MutexLock lock(mutex_);
    if (!end_) end_ = reason;
  }
  slot_.event(CallSlot::kAnswer).Signal();
}

void SlotCaller::Run() {
  FutexEvent& event = slot_.event(CallSlot::kAnswer);
  while (true) {
    const uint32_t signals = event.signals();
    std::optional<Ended> ended;
    absl::Time wake_at;
    {
      MutexLock lock(mutex_);
      ended = NextEnded();
      if (!ended && end_) return;
      // Of a sleep at most: only calls with shorter deadlines have to wake this
      // thread as they start.
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

std::optional<SlotCaller::Ended> SlotCaller::NextEnded() {
  if (state_ != State::kPosted) return std::nullopt;
  Ended ended;
  ended.is_answered = slot_.posted(CallSlot::kAnswer) == number_;
  if (!open_) {
    // The answer came after the deadline.
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

absl::Status SlotCaller::ReadAnswer(const SlotCall& call) {
  const absl::Status read = slot_.Read(CallSlot::kAnswer, answer_);
  if (!read.ok()) return absl::InternalError(read.message());
  if (answer_.code != 0) {
    return {static_cast<absl::StatusCode>(answer_.code), answer_.content};
  }
  if (!call.response->ParseFromString(answer_.content)) {
    return absl::InternalError("the answer is no message");
  }
  for (const DenseValues& block : answer_.blocks) {
    const auto place =
        PlaceOf(block.index, block.values.size(), call.variables);
    if (!place.ok()) return absl::InternalError(place.status().message());
    Fill(block, **place);
  }
  return absl::OkStatus();
}

}  // namespace paceline
