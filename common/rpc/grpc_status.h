// Abseil's statuses as gRPC's: the codes are the same numbers.
#ifndef PACELINE_COMMON_RPC_GRPC_STATUS_H_
#define PACELINE_COMMON_RPC_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace paceline {

grpc::Status ToGrpcStatus(const absl::Status& status);
// The message is a peer's: see common/base/peer_text.h.
absl::Status FromGrpcStatus(const grpc::Status& status);

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_GRPC_STATUS_H_
