#include "common/net/socket_address.h"

#include <sys/socket.h>

#include "absl/strings/str_cat.h"

namespace paceline {

absl::StatusOr<SocketAddresses> Resolve(const std::string& address, int flags) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(address, ": expected host:port"));
  }
  std::string host = address.substr(0, colon);
  if (host.size() > 1 && host.front() == '[') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(),
                                &hints, &found);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat(address, ": ", gai_strerror(error)));
  }
  return SocketAddresses(found);
}

}  // namespace paceline
