#include "common/process/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

namespace paceline {

namespace {

sigset_t Signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Interrupt>> Interrupt::Watch() {
  const sigset_t signals = Signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // A parent may have left SIGCHLD ignored; then waiting for children would
  // fail.
  signal(SIGCHLD, SIG_DFL);
  // A write beyond the limit of a file's size fails then, as on a full disk.
  signal(SIGXFSZ, SIG_IGN);
  const int fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, "cannot watch for signals");
  return std::unique_ptr<Interrupt>(new Interrupt(fd));
}

Interrupt::~Interrupt() {
  close(fd_);
  const sigset_t signals = Signals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

bool Interrupt::Taken() {
  signalfd_siginfo info;
  return read(fd_, &info, sizeof(info)) == sizeof(info);
}

}  // namespace paceline
