// Sockets as tests make them.
#ifndef PACELINE_TESTS_CONNECT_TO_H_
#define PACELINE_TESTS_CONNECT_TO_H_

#include <glog/logging.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include "absl/time/time.h"
#include "common/base/file_descriptor.h"
#include "common/net/socket_address.h"

namespace paceline {

// A socket of `type` (SOCK_STREAM or SOCK_DGRAM) that is bound to a free port
// of the loopback address, and the port.
struct LoopbackSocket {
  explicit LoopbackSocket(int type)
      : socket(::socket(AF_INET, type | SOCK_CLOEXEC, 0)) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(own);
    auto* const address = reinterpret_cast<sockaddr*>(&own);
    PCHECK(bind(socket.get(), address, size) == 0);
    PCHECK(getsockname(socket.get(), address, &size) == 0);
    port = ntohs(own.sin_port);
  }

  FileDescriptor socket;
  int port = 0;
};

// A blocking socket that is connected to "host:port" from the loopback port
// `from`, 0: any; closed if nobody listens there, or answers within `timeout`.
inline FileDescriptor ConnectTo(const std::string& address, int from = 0,
                                absl::Duration timeout = absl::Seconds(20)) {
  const auto callee = Resolve(address, AI_NUMERICSERV);
  CHECK(callee.ok()) << callee.status();
  FileDescriptor connection(
      socket((*callee)->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  PCHECK(connection.is_open());
  if (from != 0) {
    const int on = 1;
    setsockopt(connection.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_port = htons(static_cast<uint16_t>(from));
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    PCHECK(bind(connection.get(), reinterpret_cast<const sockaddr*>(&own),
                sizeof(own)) == 0);
  }
  // That of sending is that of connecting, too.
  const auto set_timeout = [&connection](absl::Duration duration) {
    const timeval value = absl::ToTimeval(duration);
    PCHECK(setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &value,
                      sizeof(value)) == 0);
  };
  set_timeout(timeout);
  if (connect(connection.get(), (*callee)->ai_addr, (*callee)->ai_addrlen) !=
      0) {
    return FileDescriptor();
  }
  set_timeout(absl::ZeroDuration());
  return connection;
}

}  // namespace paceline

#endif  // PACELINE_TESTS_CONNECT_TO_H_
