#include "tests/integration/harness/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "glog/logging.h"

namespace paceline {

Terminal::Terminal()
    : ours_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)) {
  PCHECK(ours_.is_open() && grantpt(ours_.get()) == 0 &&
         unlockpt(ours_.get()) == 0)
      << "cannot open a terminal";
  path_ = ptsname(ours_.get());
  theirs_ = FileDescriptor(open(path_.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  PCHECK(theirs_.is_open()) << path_;
  reader_ = std::thread([this] { Read(); });
}

Terminal::~Terminal() {
  is_closed_ = true;
  reader_.join();
}

std::string Terminal::written() const {
  MutexLock lock(mutex_);
  return written_;
}

void Terminal::Read() {
  constexpr int kLookMillis = 20;
  char buffer[4096];
  while (!is_closed_) {
    pollfd waiting = {ours_.get(), POLLIN, 0};
    poll(&waiting, 1, kLookMillis);
    const ssize_t count = read(ours_.get(), buffer, sizeof(buffer));
    if (count <= 0) continue;
    MutexLock lock(mutex_);
    written_.append(buffer, static_cast<size_t>(count));
  }
}

}  // namespace paceline
