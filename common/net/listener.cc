#include "common/net/listener.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/net/socket_address.h"

namespace paceline {
namespace {

// Connections that may wait in the queue.
constexpr int kBacklog = 1024;

int PortOf(int socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size);
  // The port has the same offset in both address families.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
}

}  // namespace

absl::StatusOr<Listener> Listener::Open(const std::string& address) {
  const auto fail = [&address](absl::string_view reason) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address, ": ", reason,
                     "; expected a free port and an address of this machine"));
  };
  const absl::StatusOr<SocketAddresses> found =
      Resolve(address, AI_NUMERICSERV | AI_PASSIVE);
  if (!found.ok()) return fail(found.status().message());
  const addrinfo& first = **found;
  const int on = 1;
  const int off = 0;
  FileDescriptor listener(
      ::socket(first.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.is_open()) {
    // Also works on a host without IPv6.
    constexpr absl::string_view kAny = "[::]";
    if (errno == EAFNOSUPPORT && absl::StartsWith(address, kAny)) {
      return Open(absl::StrCat("0.0.0.0", address.substr(kAny.size())));
    }
    return fail(std::strerror(errno));
  }
  if (first.ai_family == AF_INET6) {
    setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  }
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (bind(listener.get(), first.ai_addr, first.ai_addrlen) != 0 ||
      listen(listener.get(), kBacklog) != 0) {
    return fail(std::strerror(errno));
  }
  const int port = PortOf(listener.get());
  return Listener(std::move(listener), port);
}

absl::StatusOr<Listener> Listener::Duplicate() const {
  FileDescriptor copy(fcntl(socket_.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.is_open()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot duplicate the socket of port ", port_, ": ",
                     std::strerror(errno)));
  }
  return Listener(std::move(copy), port_);
}

absl::StatusOr<FileDescriptor> Listener::Accept() const {
  FileDescriptor accepted(
      accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (accepted.is_open()) return accepted;
  switch (errno) {
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return absl::ResourceExhaustedError(
          absl::StrCat("cannot accept a connection: ", std::strerror(errno)));
    default:
      // The queue is empty, or its first connection has been reset.
      return absl::NotFoundError("no connection waits");
  }
}

}  // namespace paceline
