// Creates gRPC channels with the settings that all of Paceline uses.
#ifndef PACELINE_COMMON_RPC_GRPC_CHANNEL_H_
#define PACELINE_COMMON_RPC_GRPC_CHANNEL_H_

#include <grpcpp/channel.h>

#include <memory>
#include <string>

#include "common/rpc/keepalive.h"
#include "common/rpc/tls.h"

namespace paceline {

// A channel with its own connection to "host:port": no HTTP proxy; attempts to
// resolve the name and connect at least every limits::kReconnectBackoff; an
// attempt to resolve it ends after limits::kResolveTimeout; messages up to
// limits::kMaxMessageBytes. `tls`: null for a plain connection.
std::shared_ptr<grpc::Channel> CreateChannel(const std::string& address,
                                             const Tls* tls,
                                             const Keepalive& keepalive);

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_GRPC_CHANNEL_H_
