// Keepalive of HTTP/2 connections. Both ends must agree: a server closes a
// connection whose client pings more often than the server allows.
#ifndef PACELINE_COMMON_RPC_KEEPALIVE_H_
#define PACELINE_COMMON_RPC_KEEPALIVE_H_

namespace paceline {

// Time between two pings of an idle connection.
inline constexpr int kKeepaliveTimeMs = 5000;
// Time to wait for the answer to a ping.
inline constexpr int kKeepaliveTimeoutMs = 5000;

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_KEEPALIVE_H_
