#include "tests/unit/data/allocation_count.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace {

std::atomic<int64_t> own_counter = 0;
// Set by the compiler: what runs before all constructors allocates too.
constinit std::atomic<std::atomic<int64_t>*> counter = &own_counter;

}  // namespace

namespace paceline {

int64_t AllocationCount() { return counter.load()->load(); }

void CountAllocationsIn(std::atomic<int64_t>& other) { counter = &other; }

}  // namespace paceline

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

static void Count() {
  counter.load(std::memory_order_relaxed)
      ->fetch_add(1, std::memory_order_relaxed);
}

// glibc lets a program put functions before its own and reach those still.
extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): the names are glibc's.
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
// NOLINTEND(bugprone-reserved-identifier)

void* malloc(size_t size) {
  Count();
  return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  Count();
  return __libc_calloc(count, size);
}

void* realloc(void* memory, size_t size) {
  Count();
  return __libc_realloc(memory, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  Count();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, size_t alignment, size_t size) {
  Count();
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}

}  // extern "C"

#endif
