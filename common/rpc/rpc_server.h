// A task's only listening port, with access control.
//
//   connection ──> accepted by us ──> gRPC ──> header checked ──> request read
//                  (survives a lack           (CallGuard)         (bounded)
//                  of descriptors)                                    │
//                                                                     v
//                                                                RpcService
//
// The server reads a request only after it has checked the call's header, so a
// stranger cannot fill this process's memory. It refuses compressed messages,
// closes connections that are silent or idle, and bounds the number of open
// calls per caller.
#ifndef PACELINE_COMMON_RPC_RPC_SERVER_H_
#define PACELINE_COMMON_RPC_RPC_SERVER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/identity/call_guard.h"
#include "common/net/listener.h"
#include "common/rpc/keepalive.h"
#include "common/rpc/rpc_service.h"
#include "common/rpc/tls.h"

namespace paceline {

struct RpcServerOptions {
  std::shared_ptr<CallGuard> guard;
  // Must outlive the server.
  std::vector<RpcService*> services;
  // Memory that gRPC may use for incoming messages of all connections, in
  // bytes; at least twice the largest request.
  size_t memory_bytes = 0;
  // Threads that serve calls; 0: half of the usable cores, between 1 and 16.
  int thread_count = 0;
  // Null: connections are plain.
  std::shared_ptr<const Tls> tls;
  // As the callers' channels have it.
  Keepalive keepalive = kTaskKeepalive;
};

// Thread-safe.
class RpcServer {
 public:
  // Starts to serve connections to `listener`.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(
      Listener listener, const RpcServerOptions& options);

  // Cancels open calls after a short grace, blocks until the services have
  // finished them, and joins all threads.
  ~RpcServer();

  // Changes RpcServerOptions::memory_bytes.
  void SetMemoryBytes(size_t bytes);

  int port() const { return port_; }

 private:
  struct Impl;
  RpcServer(std::unique_ptr<Impl> impl, int port);
  std::unique_ptr<Impl> impl_;
  int port_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_RPC_SERVER_H_
