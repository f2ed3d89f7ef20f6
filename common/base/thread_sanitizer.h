// Tells the thread sanitizer of an order that it cannot see, because a library
// makes it that is not built for it. Nothing in other builds.
#ifndef PACELINE_COMMON_BASE_THREAD_SANITIZER_H_
#define PACELINE_COMMON_BASE_THREAD_SANITIZER_H_

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace paceline {

// What this thread has done so far comes before what any thread does after
// TsanAcquire of the same address.
inline void TsanRelease([[maybe_unused]] void* address) {
#ifdef __SANITIZE_THREAD__
  __tsan_release(address);
#endif
}
inline void TsanAcquire([[maybe_unused]] void* address) {
#ifdef __SANITIZE_THREAD__
  __tsan_acquire(address);
#endif
}

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_THREAD_SANITIZER_H_
