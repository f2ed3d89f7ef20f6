// Asks a server for its health, as a probe does (grpc.health.v1.Health).
#ifndef PACELINE_COMMON_RPC_HEALTH_CLIENT_H_
#define PACELINE_COMMON_RPC_HEALTH_CLIENT_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/rpc/tls.h"

namespace paceline {

// OK if the server at "host:port" serves `service`; health_service.h has those
// of tasks. Blocks until the answer, `timeout`, or until `interrupted`, which a
// thread of its own calls, returns true: then the error is Cancelled. Errors
// name the address. `tls`: null for a plain connection.
absl::Status CheckHealth(const std::string& address, const Tls* tls,
                         const std::string& service, absl::Duration timeout,
                         const std::function<bool()>& interrupted);

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_HEALTH_CLIENT_H_
