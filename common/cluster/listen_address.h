// Addresses at which a program listens.
#ifndef PACELINE_COMMON_CLUSTER_LISTEN_ADDRESS_H_
#define PACELINE_COMMON_CLUSTER_LISTEN_ADDRESS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cluster/address.h"

namespace paceline {

// Parses "host:port", where port 0 takes a free one. InvalidArgument says what
// is wrong, without the address itself.
absl::StatusOr<Address> ParseListenAddress(absl::string_view text);

}  // namespace paceline

#endif  // PACELINE_COMMON_CLUSTER_LISTEN_ADDRESS_H_
