// Channels as every part of Paceline opens them.
#ifndef PACELINE_COMMON_RPC_GRPC_CHANNEL_H_
#define PACELINE_COMMON_RPC_GRPC_CHANNEL_H_

#include <grpcpp/channel.h>

#include <memory>
#include <string>

namespace paceline {

// A channel with a connection of its own to "host:port": no HTTP proxy,
// attempts to connect and to resolve the name at least every
// limits::kReconnectBackoff, keepalive, no bound on message sizes but
// limits::kMaxMessageBytes.
std::shared_ptr<grpc::Channel> CreateChannel(const std::string& address);

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_GRPC_CHANNEL_H_
