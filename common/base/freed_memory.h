// Settings of the memory allocator.
#ifndef PACELINE_COMMON_BASE_FREED_MEMORY_H_
#define PACELINE_COMMON_BASE_FREED_MEMORY_H_

#include <malloc.h>

namespace paceline {

// Lets malloc keep up to 256 MiB of freed memory for the next step, instead of
// returning it to the kernel, which would have to zero each page again. For
// messages with tensors that takes as long as sending them. Call it in main(),
// before the first thread starts.
inline void KeepFreedMemory() {
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  // The largest threshold that glibc accepts; malloc maps larger blocks
  // separately and returns them to the kernel at once.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
}

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_FREED_MEMORY_H_
