#include "common/rpc/grpc_status.h"

#include <string>

#include "common/base/peer_status.h"

namespace paceline {

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      std::string(status.message()));
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  return MakePeerStatus(static_cast<int>(status.error_code()),
                        status.error_message());
}

}  // namespace paceline
