// Repeats calls whose connection breaks.
#ifndef PACELINE_COMMON_RPC_REPEATED_CALLS_H_
#define PACELINE_COMMON_RPC_REPEATED_CALLS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/rpc/call_group.h"

namespace paceline {

struct RepeatLimits {
  // Of all attempts of a call together.
  absl::Duration timeout;
  // How long the callee may be unavailable, from the end of the last attempt
  // that had a connection, else of the first attempt.
  absl::Duration unavailable = absl::InfiniteDuration();
};

// Repeats a call while its attempts end with Unavailable, up to its
// RepeatLimits. Only for idempotent calls, also while the first attempt may
// still be running: the callee may have done its work although the answer was
// lost. Thread-safe.
class RepeatedCalls {
 public:
  // Starts an attempt with `timeout` left. Runs on the thread that starts the
  // call, or on one of gRPC's.
  using Attempt = std::function<void(absl::Duration timeout, CallDone done)>;

  RepeatedCalls();
  // All calls must have ended.
  ~RepeatedCalls();

  // `done` gets the status of the last attempt, on the thread on which that
  // attempt ended; it must not block. See CallDone.
  void Start(RepeatLimits limits, Attempt attempt, CallDone done);

  // Starts no further attempts; calls that pause before their next attempt end.
  // Call it before cancelling the attempts that are under way.
  void Cancel();

 private:
  struct Call;
  struct Pause;

  void Try(const std::shared_ptr<Call>& call, absl::Duration timeout);
  void Ended(const std::shared_ptr<Call>& call, const absl::Status& status);
  // Schedules another attempt after a pause; returns false if there is none.
  bool PauseAfter(const std::shared_ptr<Call>& call);
  void PauseEnded(uint64_t number);

  // An alarm that is never started. It keeps gRPC initialised: otherwise the
  // end of the last pause would shut gRPC down on one of gRPC's threads, which
  // would wait for itself.
  const std::unique_ptr<Pause> keeps_grpc_;
  Mutex mutex_;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t last_pause_ ABSL_GUARDED_BY(mutex_) = 0;
  // By number.
  std::map<uint64_t, std::shared_ptr<Pause>> pauses_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_REPEATED_CALLS_H_
