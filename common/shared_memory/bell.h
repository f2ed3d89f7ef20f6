// A signal between processes, in memory that they share.
#ifndef PACELINE_COMMON_SHARED_MEMORY_BELL_H_
#define PACELINE_COMMON_SHARED_MEMORY_BELL_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"

namespace paceline {

// Zeroed memory is a bell that never rang. One thread at a time waits for it,
// any number ring it:
//
//   const uint32_t rings = bell.rings();   // first, so that no event is missed
//   ... look whether something happened ...
//   bell.Wait(rings, deadline, spin);
//   ... look again, whatever the wait ended with ...
//
// A peer that writes anything into it makes waits too short, or as long as
// limits::kBellSleep, no more.
class Bell {
 public:
  // How often it rang; wraps around.
  uint32_t rings() const { return rings_.load(std::memory_order_acquire); }

  // What was written before is seen by who sees the ring.
  void Ring();

  // Waits until it has rung since it had rung `rings` times, until the
  // deadline, or for limits::kBellSleep: a ring that nobody hears delays its
  // event, no more. Looks again and again for `spin`, which is to be zero where
  // threads outnumber cores, before it sleeps.
  void Wait(uint32_t rings, absl::Time deadline, absl::Duration spin);

 private:
  static_assert(std::atomic<uint32_t>::is_always_lock_free);
  // A futex.
  std::atomic<uint32_t> rings_;
  std::atomic<uint32_t> is_asleep_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SHARED_MEMORY_BELL_H_
