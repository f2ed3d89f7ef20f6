// Network addresses of tasks.
#ifndef PACELINE_COMMON_CLUSTER_ADDRESS_H_
#define PACELINE_COMMON_CLUSTER_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

// The port of a task whose address has none; Kubeflow uses the same default.
inline constexpr int kDefaultPort = 2222;

struct Address {
  // A host name or IPv4 address, or an IPv6 address without brackets.
  std::string host;
  int port = kDefaultPort;
  // Whether the text had a port.
  bool has_port = false;

  // "host:port", "[::1]:2222".
  std::string ToString() const;
};

// Parses "host", "host:port" or either with an IPv6 address in brackets. Names
// are checked by syntax, not looked up. InvalidArgument says what is wrong,
// without the address itself.
absl::StatusOr<Address> ParseAddress(absl::string_view text);

// Whether the address can only be reached from this machine.
bool IsLoopback(const Address& address);

// Replaces the port: "127.0.0.1:2222" for "127.0.0.1:0" and 2222. For a task
// that listens on a free port.
std::string WithPort(absl::string_view address, int port);

}  // namespace paceline

#endif  // PACELINE_COMMON_CLUSTER_ADDRESS_H_
