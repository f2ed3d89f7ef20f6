// The order to leave the job, which comes from outside, as a signal.
#ifndef PACELINE_COMMON_PROCESS_LEAVE_ORDER_H_
#define PACELINE_COMMON_PROCESS_LEAVE_ORDER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/process/interrupt.h"

namespace paceline {

// Thread-safe.
class LeaveOrder {
 public:
  // `react`: what to do when the order is given.
  explicit LeaveOrder(std::function<void()> react) : react_(std::move(react)) {}

  // Gives the order. Runs the reaction on this thread.
  void Give() {
    is_given_ = true;
    MutexLock lock(mutex_);
    react_();
  }
  bool is_given() const { return is_given_; }

  // Changes the reaction. Blocks while one runs.
  void SetReaction(std::function<void()> react) {
    MutexLock lock(mutex_);
    react_ = std::move(react);
  }

 private:
  std::atomic<bool> is_given_ = false;
  Mutex mutex_;
  std::function<void()> react_ ABSL_GUARDED_BY(mutex_);
};

// Time from the order until the task must have left: less than the 30 s that
// Kubernetes gives.
inline constexpr absl::Duration kLeaveTimeout = absl::Seconds(20);

// Returns an order that the first signal gives. Its reaction, until another is
// set, ends the process with kRestart. A second signal does so in any case, or
// the end of kLeaveTimeout. The order is never destroyed: the thread that waits
// for signals uses it until the process has ended, also while exit() destroys
// static objects.
LeaveOrder& LeaveOnSignal(std::unique_ptr<Interrupt> interrupt);

// Ends the process with this exit code, without joining threads.
[[noreturn]] void EndNow(int exit_code);

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_LEAVE_ORDER_H_
