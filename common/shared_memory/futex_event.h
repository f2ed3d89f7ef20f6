// A futex event: a counter in shared memory by which processes wake each other
// up.
#ifndef PACELINE_COMMON_SHARED_MEMORY_FUTEX_EVENT_H_
#define PACELINE_COMMON_SHARED_MEMORY_FUTEX_EVENT_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"

namespace paceline {

// Zeroed memory is a valid event that was never signalled. Only one thread may
// wait at a time; any number of threads may signal:
//
//   const uint32_t signals = event.signals();   // first, to miss none
//   ... check the condition ...
//   event.Wait(signals, deadline, spin);
//   ... check the condition again, however the wait ended ...
//
// It is an eventcount: the counter is read before the condition is checked, so
// a signal between the check and the wait makes the wait return at once. If a
// peer corrupts the memory, waits become shorter, or at most as long as
// limits::kFutexSleep.
class FutexEvent {
 public:
  // How often the event was signalled; wraps around.
  uint32_t signals() const { return signals_.load(std::memory_order_acquire); }

  // Signals the event. A thread that sees the new count also sees everything
  // that was written before.
  void Signal();

  // Blocks until the count differs from `signals`, or until the deadline, or
  // for limits::kFutexSleep; so a lost wake-up only causes a delay. Spins for
  // `spin` before it sleeps; pass zero if there are more threads than cores.
  void Wait(uint32_t signals, absl::Time deadline, absl::Duration spin);

 private:
  static_assert(std::atomic<uint32_t>::is_always_lock_free);
  // The counter, on which waiting threads sleep (futex).
  std::atomic<uint32_t> signals_;
  std::atomic<uint32_t> is_asleep_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SHARED_MEMORY_FUTEX_EVENT_H_
