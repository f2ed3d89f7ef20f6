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

#include "tests/unit/data/allocation_count.h"

namespace paceline {
namespace {

using Counter = std::atomic<int64_t>;

__attribute__((constructor)) void MapCounter() {
  const char* folder = std::getenv("ALLOCATION_COUNTER_FOLDER");
  if (folder == nullptr) return;
  char path[4096];
  std::snprintf(path, sizeof(path), "%s/%s-%d", folder,
                program_invocation_short_name, getpid());
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(Counter)) != 0) return;
  void* memory =
      mmap(nullptr, sizeof(Counter), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory != MAP_FAILED) CountAllocationsIn(*static_cast<Counter*>(memory));
}

}  // namespace
}  // namespace paceline
