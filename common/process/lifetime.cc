#include "common/process/lifetime.h"

#include <unistd.h>

#include <cerrno>
#include <thread>

namespace paceline {

void EndWithParent(int lifetime_fd) {
  std::thread([lifetime_fd] {
    char byte;
    ssize_t count;
    do {
      count = read(lifetime_fd, &byte, 1);
    } while (count > 0 || (count < 0 && errno == EINTR));
    _exit(1);
  }).detach();
}

}  // namespace paceline
