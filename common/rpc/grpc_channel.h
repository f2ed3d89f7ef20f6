// Channels as every part of Paceline opens them.
#ifndef PACELINE_COMMON_RPC_GRPC_CHANNEL_H_
#define PACELINE_COMMON_RPC_GRPC_CHANNEL_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <memory>
#include <string>

#include "absl/time/time.h"

namespace paceline {

// A channel with a connection of its own to "host:port": no HTTP proxy,
// attempts to connect and to resolve the name at least every
// limits::kReconnectBackoff, keepalive, no bound on message sizes but
// limits::kMaxMessageBytes.
std::shared_ptr<grpc::Channel> CreateChannel(const std::string& address);

// Lets a call wait for its connection until `timeout` from now, its deadline.
void SetDeadline(grpc::ClientContext& context, absl::Duration timeout);

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_GRPC_CHANNEL_H_
