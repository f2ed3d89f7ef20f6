#include "worker/collective/group_listener.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "worker/collective/socket_address.h"

namespace paceline {
namespace {

// Connections that may wait.
constexpr int kBacklog = 1024;

int PortOf(int socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size);
  // The port is at the same place in both families.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
}

}  // namespace

absl::StatusOr<GroupListener> GroupListener::Open(const std::string& address) {
  const auto fail = [&address](int error, absl::string_view what) {
    return absl::ErrnoToStatus(
        error, absl::StrCat("listening on ", address, ": ", what));
  };
  ASSIGN_OR_RETURN(
      const SocketAddresses found,
      Resolve(address, AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE));
  const int on = 1;
  const int off = 0;
  FileDescriptor listener(::socket(
      found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.is_open()) {
    // A host without IPv6.
    constexpr absl::string_view kAny = "[::]";
    if (errno == EAFNOSUPPORT && absl::StartsWith(address, kAny)) {
      return Open(absl::StrCat("0.0.0.0", address.substr(kAny.size())));
    }
    return fail(errno, "socket");
  }
  if (found->ai_family == AF_INET6) {
    // "[::]" is for both families.
    setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  }
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const bool bound =
      bind(listener.get(), found->ai_addr, found->ai_addrlen) == 0;
  if (!bound) return fail(errno, "bind");
  if (listen(listener.get(), kBacklog) != 0) return fail(errno, "listen");
  const int port = PortOf(listener.get());
  return GroupListener(std::move(listener), port);
}

}  // namespace paceline
