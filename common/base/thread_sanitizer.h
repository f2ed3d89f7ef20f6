// Tells the thread sanitizer about an order between threads that a library
// establishes which is not built for the sanitizer. No effect in other builds.
#ifndef PACELINE_COMMON_BASE_THREAD_SANITIZER_H_
#define PACELINE_COMMON_BASE_THREAD_SANITIZER_H_

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace paceline {

// Everything this thread has done so far happens before what any thread does
// after TsanAcquire of the same address.
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
