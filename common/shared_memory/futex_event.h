// An event between processes: a futex in memory that they share.
#ifndef PACELINE_COMMON_SHARED_MEMORY_FUTEX_EVENT_H_
#define PACELINE_COMMON_SHARED_MEMORY_FUTEX_EVENT_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"

namespace paceline {

// Zeroed memory is an event that nobody has signalled. One thread at a time
// waits for it, any number signal it:
//
//   const uint32_t signals = event.signals();   // first, to miss none
//   ... look whether something happened ...
//   event.Wait(signals, deadline, spin);
//   ... look again, whatever the wait ended with ...
//
// A peer that writes anything into it makes waits too short, or as long as
// limits::kFutexSleep, no more.
class FutexEvent {
 public:
  // How often it was signalled; wraps around.
  uint32_t signals() const { return signals_.load(std::memory_order_acquire); }

  // What was written before is seen by who sees the signal.
  void Signal();

  // Waits until it is signalled after the first `signals` times, until the
  // deadline, or for limits::kFutexSleep: a signal that is lost delays what it
  // tells of, no more. Looks again and again for `spin`, which is to be zero
  // where threads outnumber cores, before it sleeps.
  void Wait(uint32_t signals, absl::Time deadline, absl::Duration spin);

 private:
  static_assert(std::atomic<uint32_t>::is_always_lock_free);
  // A futex.
  std::atomic<uint32_t> signals_;
  std::atomic<uint32_t> is_asleep_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SHARED_MEMORY_FUTEX_EVENT_H_
