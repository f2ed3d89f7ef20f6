// Copies data from memory that a peer may change at any time.
#ifndef PACELINE_COMMON_SHARED_MEMORY_COPY_OUT_H_
#define PACELINE_COMMON_SHARED_MEMORY_COPY_OUT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace paceline {

// Copies `size` bytes from shared memory; `from` must be 8-byte aligned. Reads
// each word exactly once. With a plain copy the compiler may read the shared
// memory again after a check. The copy may be a mix of old and new data, but it
// does not change after it was checked.
inline void CopyOut(const void* from, void* to, size_t size) {
  const auto* source = static_cast<const unsigned char*>(from);
  auto* target = static_cast<unsigned char*>(to);
  size_t done = 0;
  for (; size - done >= sizeof(uint64_t); done += sizeof(uint64_t)) {
    const uint64_t word = __atomic_load_n(
        reinterpret_cast<const uint64_t*>(source + done), __ATOMIC_RELAXED);
    std::memcpy(target + done, &word, sizeof(word));
  }
  for (; done < size; ++done) {
    target[done] = __atomic_load_n(source + done, __ATOMIC_RELAXED);
  }
}

// The same for an object.
template <typename T>
T CopyOut(const void* from) {
  static_assert(std::is_trivially_copyable_v<T>);
  T copy;
  CopyOut(from, &copy, sizeof(copy));
  return copy;
}

}  // namespace paceline

#endif  // PACELINE_COMMON_SHARED_MEMORY_COPY_OUT_H_
