// A library to preload: counts what a process allocates, in the first 8 bytes
// of the file <ALLOCATION_COUNTER_FOLDER>/<program>-<pid>. The file is mapped,
// so that the count survives however the process ends.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

std::atomic<int64_t> uncounted = 0;
std::atomic<int64_t>* counter = &uncounted;

__attribute__((constructor)) void MapCounter() {
  const char* folder = std::getenv("ALLOCATION_COUNTER_FOLDER");
  if (folder == nullptr) return;
  char path[4096];
  std::snprintf(path, sizeof(path), "%s/%s-%d", folder,
                program_invocation_short_name, getpid());
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(*counter)) != 0) return;
  void* memory = mmap(nullptr, sizeof(*counter), PROT_READ | PROT_WRITE,
                      MAP_SHARED, fd, 0);
  close(fd);
  if (memory != MAP_FAILED)
    counter = static_cast<std::atomic<int64_t>*>(memory);
}

void Count() { counter->fetch_add(1, std::memory_order_relaxed); }

}  // namespace

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
