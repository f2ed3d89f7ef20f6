#include "common/process/lifetime.h"

#include <unistd.h>

#include <cerrno>
#include <thread>

namespace paceline {

absl::StatusOr<std::string> ReadLine(int lifetime_fd) {
  std::string line;
  while (true) {
    char byte = 0;
    const ssize_t count = read(lifetime_fd, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return absl::UnavailableError("the parent has ended");
    if (byte == '\n') return line;
    line.push_back(byte);
  }
}

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
