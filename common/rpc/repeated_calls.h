// Calls that outlive a broken connection.
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
  // For all attempts of a call together.
  absl::Duration timeout;
  // How long the callee may be unavailable. This counts from the end of an
  // attempt that had a connection, or of the first one.
  absl::Duration unavailable = absl::InfiniteDuration();
};

// Repeats a call while its attempts end with Unavailable, until its limits. For
// calls whose callee answers a repeat as it did the first, also while the first
// is still under way: it may have done what it was asked for, though the answer
// was lost. Thread-safe.
class RepeatedCalls {
 public:
  // Starts one attempt, for which `timeout` is left. Runs on the thread that
  // starts the call, or on one of gRPC's.
  using Attempt = std::function<void(absl::Duration timeout, CallDone done)>;

  RepeatedCalls();
  // No call may be open.
  ~RepeatedCalls();

  // `done` gets the status of the last attempt, on a thread of gRPC's or of
  // `attempt`, and must not block.
  void Start(RepeatLimits limits, Attempt attempt, CallDone done);

  // No attempt follows those under way; calls that wait for their next one end.
  // To be called before the attempts are cancelled.
  void Cancel();

 private:
  struct Call;
  struct Pause;

  void Try(const std::shared_ptr<Call>& call, absl::Duration timeout);
  void Ended(const std::shared_ptr<Call>& call, const absl::Status& status);
  // Whether there is another attempt after a pause.
  bool PauseAfter(const std::shared_ptr<Call>& call);
  void PauseEnded(uint64_t number, const std::shared_ptr<Call>& call);

  Mutex mutex_;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t last_pause_ ABSL_GUARDED_BY(mutex_) = 0;
  // By number.
  std::map<uint64_t, std::shared_ptr<Pause>> pauses_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_REPEATED_CALLS_H_
