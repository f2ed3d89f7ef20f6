// Keepalive of HTTP/2 connections.
#ifndef PACELINE_COMMON_RPC_KEEPALIVE_H_
#define PACELINE_COMMON_RPC_KEEPALIVE_H_

namespace paceline {

struct Keepalive {
  // An end that has received nothing for this long sends a ping.
  int time_ms;
  // The connection is closed if the ping is not answered within this time.
  int timeout_ms;
  // Whether the server sends pings, too. If not, the keepalive of TCP finds out
  // that a client is gone (connection_acceptor.h).
  bool is_mutual;
};

// A server closes a connection on which pings come more often than this: half
// of the shortest time below, as timers are not exact.
inline constexpr int kMinPingIntervalMs = 2500;

// Between the tasks of a job.
inline constexpr Keepalive kTaskKeepalive = {5000, 5000, true};
// With the coordinator of a service: twice kServicePoll, so that no pings are
// sent while each answer is followed by the next call. With thousands of
// daemons, pings and gRPC's timers for them cost the coordinator as much as
// their calls.
inline constexpr Keepalive kServiceKeepalive = {10'000, 5000, false};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_KEEPALIVE_H_
