// Waiting for a word in shared memory; see futex(2).
#ifndef PACELINE_COMMON_SHARED_MEMORY_FUTEX_H_
#define PACELINE_COMMON_SHARED_MEMORY_FUTEX_H_

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

#include "absl/time/time.h"

namespace paceline {

// If `word` is `expected`, sleeps until woken or until `timeout`. May wake up
// spuriously.
inline void FutexWait(std::atomic<uint32_t>& word, uint32_t expected,
                      absl::Duration timeout) {
  const timespec time = absl::ToTimespec(timeout);
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, &time, nullptr, 0);
}

// Wakes all threads that wait for the word.
inline void FutexWake(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace paceline

#endif  // PACELINE_COMMON_SHARED_MEMORY_FUTEX_H_
