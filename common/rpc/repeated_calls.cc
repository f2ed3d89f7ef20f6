#include "common/rpc/repeated_calls.h"

#include <grpcpp/alarm.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

// Pause between two attempts, so as not to flood a callee that breaks each of
// them.
constexpr absl::Duration kRepeatPause = absl::Milliseconds(100);
// An attempt that lasted longer than this had a connection, or was the first of
// its channel and waited for the name to resolve.
constexpr absl::Duration kConnectAttempt = absl::Seconds(2);

gpr_timespec After(absl::Duration duration) {
  return gpr_time_add(
      gpr_now(GPR_CLOCK_MONOTONIC),
      gpr_time_from_millis(absl::ToInt64Milliseconds(duration), GPR_TIMESPAN));
}

}  // namespace

struct RepeatedCalls::Call {
  absl::Time deadline;
  absl::Duration unavailable_limit;
  Attempt attempt;
  CallDone done;
  // Of the last attempt.
  absl::Time began;
  absl::Time unavailable_since = absl::InfiniteFuture();
  // The error of the last attempt before this one; OK if there was none.
  absl::Status broke;
};

struct RepeatedCalls::Pause {
  grpc::Alarm alarm;
  // Not captured by the alarm's callback: gRPC may destroy the callback on any
  // thread, and the call with it.
  std::shared_ptr<Call> call;
};

RepeatedCalls::RepeatedCalls() : keeps_grpc_(std::make_unique<Pause>()) {}
RepeatedCalls::~RepeatedCalls() = default;

void RepeatedCalls::Start(RepeatLimits limits, Attempt attempt, CallDone done) {
  auto call = std::make_shared<Call>();
  call->deadline = MonotonicNow() + limits.timeout;
  call->unavailable_limit = limits.unavailable;
  call->attempt = std::move(attempt);
  call->done = std::move(done);
  // The first attempt gets exactly `timeout`, so that its error shows the same
  // number.
  Try(call, limits.timeout);
}

void RepeatedCalls::Try(const std::shared_ptr<Call>& call,
                        absl::Duration timeout) {
  call->began = MonotonicNow();
  call->attempt(timeout, [this, call](const absl::Status& status) {
    Ended(call, status);
  });
}

void RepeatedCalls::Ended(const std::shared_ptr<Call>& call,
                          const absl::Status& status) {
  const absl::Status before = std::exchange(call->broke, status);
  if (absl::IsUnavailable(status)) {
    if (PauseAfter(call)) return;
    MutexLock lock(mutex_);
    if (is_cancelled_) call->broke = absl::CancelledError(status.message());
  }
  if (absl::IsCancelled(call->broke)) return call->done(call->broke);
  if (status.ok() || before.ok()) return call->done(status);
  call->done(WithMessage(
      status,
      absl::StrCat(status.message(), "; before that: ", before.message())));
}

bool RepeatedCalls::PauseAfter(const std::shared_ptr<Call>& call) {
  const absl::Time now = MonotonicNow();
  const bool was_connected = now - call->began > kConnectAttempt;
  if (was_connected || call->unavailable_since == absl::InfiniteFuture()) {
    call->unavailable_since = now;
  }
  if (now + kRepeatPause >= call->deadline) return false;
  if (now - call->unavailable_since >= call->unavailable_limit) return false;
  MutexLock lock(mutex_);
  if (is_cancelled_) return false;
  const uint64_t number = ++last_pause_;
  std::shared_ptr<Pause>& pause = pauses_[number];
  pause = std::make_shared<Pause>();
  pause->call = call;
  pause->alarm.Set(After(kRepeatPause),
                   [this, number](bool /*is_over*/) { PauseEnded(number); });
  return true;
}

void RepeatedCalls::PauseEnded(uint64_t number) {
  std::shared_ptr<Call> call;
  bool is_cancelled = false;
  {
    MutexLock lock(mutex_);
    const auto pause = pauses_.find(number);
    call = std::move(pause->second->call);
    pauses_.erase(pause);
    is_cancelled = is_cancelled_;
  }
  if (is_cancelled) {
    call->done(absl::CancelledError(call->broke.message()));
  } else {
    Try(call, call->deadline - MonotonicNow());
  }
}

void RepeatedCalls::Cancel() {
  std::map<uint64_t, std::shared_ptr<Pause>> pauses;
  {
    MutexLock lock(mutex_);
    is_cancelled_ = true;
    pauses = pauses_;
  }
  for (const auto& [number, pause] : pauses) pause->alarm.Cancel();
}

}  // namespace paceline
