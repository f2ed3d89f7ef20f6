#include "common/cluster/listen_address.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "common/base/status_macros.h"

namespace paceline {

absl::StatusOr<Address> ParseListenAddress(absl::string_view text) {
  if (absl::EndsWith(text, ":0")) {
    // No address to connect to has this port.
    ASSIGN_OR_RETURN(Address address,
                     ParseAddress(WithPort(text, kDefaultPort)));
    address.port = 0;
    return address;
  }
  ASSIGN_OR_RETURN(Address address, ParseAddress(text));
  if (!address.has_port) {
    return absl::InvalidArgumentError(
        "it has no port; expected host:port, and port 0 for a free one");
  }
  return address;
}

}  // namespace paceline
