#include "common/tls/server_name.h"

#include "common/cluster/address.h"

namespace paceline {

bool ChecksServerName(absl::string_view address) {
  const absl::StatusOr<Address> parsed = ParseAddress(address);
  return !parsed.ok() || parsed->host == "localhost" || !IsLoopback(*parsed);
}

}  // namespace paceline
