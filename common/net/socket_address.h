// Addresses as the socket calls take them.
#ifndef PACELINE_COMMON_NET_SOCKET_ADDRESS_H_
#define PACELINE_COMMON_NET_SOCKET_ADDRESS_H_

#include <netdb.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace paceline {

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { freeaddrinfo(addresses); }
};
// A list, never empty.
using SocketAddresses = std::unique_ptr<addrinfo, FreeAddresses>;

// Looks "host:port" or "[::1]:port" up, for TCP. `flags` are getaddrinfo's.
// Unavailable: there is no such host now. Blocks on the resolver.
absl::StatusOr<SocketAddresses> Resolve(const std::string& address, int flags);

}  // namespace paceline

#endif  // PACELINE_COMMON_NET_SOCKET_ADDRESS_H_
