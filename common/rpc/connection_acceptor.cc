#include "common/rpc/connection_acceptor.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cstdint>
#include <utility>

#include "absl/time/time.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Pause before the next attempt when descriptors are exhausted.
constexpr absl::Duration kPause = absl::Milliseconds(100);

// TCP's keepalive: of a peer that is silent for so long, and then does not
// answer so many probes, nothing more is expected.
constexpr int kSilenceSeconds = 60;
constexpr int kProbeSeconds = 10;
constexpr int kProbes = 3;

void Set(int socket, int level, int option, int value) {
  setsockopt(socket, level, option, &value, sizeof(value));
}

void Prepare(int socket) {
  Set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  Set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  Set(socket, IPPROTO_TCP, TCP_KEEPIDLE, kSilenceSeconds);
  Set(socket, IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
  Set(socket, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
}

}  // namespace

ConnectionAcceptor::ConnectionAcceptor(Listener listener,
                                       std::function<void(FileDescriptor)> take)
    : listener_(std::move(listener)),
      take_(std::move(take)),
      stop_(eventfd(0, EFD_CLOEXEC)),
      thread_([this] { Run(); }) {}

ConnectionAcceptor::~ConnectionAcceptor() {
  const uint64_t one = 1;
  PCHECK(write(stop_.get(), &one, sizeof(one)) == sizeof(one));
  thread_.join();
}

void ConnectionAcceptor::Run() {
  bool is_exhausted = false;
  while (true) {
    pollfd polled[] = {{stop_.get(), POLLIN, 0},
                       {listener_.socket(), POLLIN, 0}};
    // Do not poll the listener in the pause: it stays readable while a
    // connection waits that cannot be accepted.
    poll(polled, is_exhausted ? 1 : 2,
         is_exhausted ? static_cast<int>(absl::ToInt64Milliseconds(kPause))
                      : -1);
    if (polled[0].revents != 0) return;
    absl::StatusOr<FileDescriptor> accepted = listener_.Accept();
    LOG_IF(WARNING, absl::IsResourceExhausted(accepted.status()) &&
                        !std::exchange(is_exhausted, true))
        << "port " << listener_.port() << ": " << accepted.status().message()
        << "; connections wait until others close";
    is_exhausted = absl::IsResourceExhausted(accepted.status());
    if (!accepted.ok()) continue;
    Prepare(accepted->get());
    take_(*std::move(accepted));
  }
}

}  // namespace paceline
