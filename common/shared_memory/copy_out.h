// Copies of what a peer may change at any time.
#ifndef PACELINE_COMMON_SHARED_MEMORY_COPY_OUT_H_
#define PACELINE_COMMON_SHARED_MEMORY_COPY_OUT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace paceline {

// Copies `size` bytes from memory that others write, `from` at a multiple of 8.
// Reads each once: to the compiler a plain copy is the memory itself, which it
// may read again, after a check. What is copied may be half old, half new; it
// stays as it was checked.
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

// The same of an object.
template <typename T>
T CopyOut(const void* from) {
  static_assert(std::is_trivially_copyable_v<T>);
  T copy;
  CopyOut(from, &copy, sizeof(copy));
  return copy;
}

}  // namespace paceline

#endif  // PACELINE_COMMON_SHARED_MEMORY_COPY_OUT_H_
