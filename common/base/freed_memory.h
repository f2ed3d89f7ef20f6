// What becomes of memory that is freed.
#ifndef PACELINE_COMMON_BASE_FREED_MEMORY_H_
#define PACELINE_COMMON_BASE_FREED_MEMORY_H_

#include <malloc.h>

namespace paceline {

// Has the allocator keep freed memory for the next step, up to 256 MiB, rather
// than give it back to the system, which would clear it page by page: messages
// with tensors take as long to clear as to send. For main(), before the first
// thread.
inline void KeepFreedMemory() {
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  // The largest that glibc takes: larger blocks are the system's own.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
}

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_FREED_MEMORY_H_
