// The address of this machine as another one sees it.
#ifndef PACELINE_COMMON_DAEMON_LOCAL_HOST_H_
#define PACELINE_COMMON_DAEMON_LOCAL_HOST_H_

#include <string>

#include "absl/status/statusor.h"

namespace paceline {

// The numeric address from which this machine reaches `peer`, "host:port";
// without brackets. Sends nothing. Unavailable: the name cannot be resolved, or
// there is no way to it, at the moment. Blocks on the resolver.
absl::StatusOr<std::string> LocalHostTowards(const std::string& peer);

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_LOCAL_HOST_H_
