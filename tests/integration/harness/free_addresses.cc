#include "tests/integration/harness/free_addresses.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Programs of tests run beside each other, and a task may bind its port seconds
// after the test chose it. So each program has ports of its own, below those
// that the kernel gives to whoever asks for any.
constexpr int kFirstPort = 10240;
constexpr int kPortsEach = 256;
constexpr int kPrograms = 80;

// The first port of this program, which holds a lock for it until it ends.
int OwnPorts() {
  for (int i = 0; i < kPrograms; ++i) {
    const std::string path = absl::StrCat("/tmp/paceline-test-ports-", i);
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    PCHECK(fd >= 0) << path;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return kFirstPort + i * kPortsEach;
    close(fd);
  }
  LOG(FATAL) << "more than " << kPrograms << " programs of tests at a time";
}

bool IsFree(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  PCHECK(fd >= 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  const bool is_free =
      bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  close(fd);
  return is_free;
}

}  // namespace

std::vector<std::string> FreeAddresses(int count) {
  static const int first = OwnPorts();
  // Those of the last call may be bound yet.
  static int next = 0;
  std::vector<std::string> addresses;
  for (int tried = 0; std::ssize(addresses) < count; ++tried) {
    CHECK_LT(tried, kPortsEach) << "too few ports are free";
    const int port = first + next;
    next = (next + 1) % kPortsEach;
    if (IsFree(port)) addresses.push_back(absl::StrCat("127.0.0.1:", port));
  }
  return addresses;
}

}  // namespace paceline
