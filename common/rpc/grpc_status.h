// Converts statuses between Abseil and gRPC; the codes are equal.
#ifndef PACELINE_COMMON_RPC_GRPC_STATUS_H_
#define PACELINE_COMMON_RPC_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace paceline {

grpc::Status ToGrpcStatus(const absl::Status& status);
// The message comes from a peer, so it is made safe by PeerText
// (common/base/peer_text.h).
absl::Status FromGrpcStatus(const grpc::Status& status);

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_GRPC_STATUS_H_
