// Addresses in the form of the socket API.
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
// A list that is never empty.
using SocketAddresses = std::unique_ptr<addrinfo, FreeAddresses>;

// Resolves "host:port" or "[::1]:port" for TCP. `flags` are those of
// getaddrinfo. Unavailable: there is no such host at the moment. Blocks on the
// resolver.
absl::StatusOr<SocketAddresses> Resolve(const std::string& address, int flags);

}  // namespace paceline

#endif  // PACELINE_COMMON_NET_SOCKET_ADDRESS_H_
