// Keepalive of HTTP/2 connections, agreed on by both ends: a server that
// expects pings less often closes the connection.
#ifndef PACELINE_COMMON_RPC_KEEPALIVE_H_
#define PACELINE_COMMON_RPC_KEEPALIVE_H_

namespace paceline {

// Between two pings of an idle connection.
inline constexpr int kKeepaliveTimeMs = 5000;
// Until the answer to a ping.
inline constexpr int kKeepaliveTimeoutMs = 5000;

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_KEEPALIVE_H_
