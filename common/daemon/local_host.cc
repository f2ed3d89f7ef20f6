#include "common/daemon/local_host.h"

#include <netdb.h>
#include <sys/socket.h>

#include "absl/strings/str_cat.h"
#include "common/base/file_descriptor.h"
#include "common/base/status_macros.h"
#include "common/net/socket_address.h"

namespace paceline {

absl::StatusOr<std::string> LocalHostTowards(const std::string& peer) {
  ASSIGN_OR_RETURN(const SocketAddresses addresses, Resolve(peer, 0));
  for (const addrinfo* to = addresses.get(); to != nullptr; to = to->ai_next) {
    // To connect such a socket only chooses the way.
    const FileDescriptor way(
        socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage own{};
    socklen_t size = sizeof(own);
    auto* const address = reinterpret_cast<sockaddr*>(&own);
    char host[NI_MAXHOST];
    if (way.is_open() && connect(way.get(), to->ai_addr, to->ai_addrlen) == 0 &&
        getsockname(way.get(), address, &size) == 0 &&
        getnameinfo(address, size, host, sizeof(host), nullptr, 0,
                    NI_NUMERICHOST) == 0) {
      return std::string(host);
    }
  }
  return absl::UnavailableError(
      absl::StrCat("this machine has no way to ", peer));
}

}  // namespace paceline
