// A task's one listening port, and whom it lets in.
//
//   connection ──> accepted by us ──> gRPC ──> header checked ──> request read
//                  (survives a lack           (CallGuard)         (of bounded
//                  of descriptors)                                 size) ──>
//                  RpcService
//
// What a caller sends is received only once its header has been checked: a
// stranger cannot fill this process's memory. Compressed messages are refused,
// connections that do not speak or idle are closed, and each has a bounded
// number of open calls.
#ifndef PACELINE_COMMON_RPC_RPC_SERVER_H_
#define PACELINE_COMMON_RPC_RPC_SERVER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/identity/call_guard.h"
#include "common/net/listener.h"
#include "common/rpc/rpc_service.h"

namespace paceline {

struct RpcServerOptions {
  std::shared_ptr<CallGuard> guard;
  // Outlives the server.
  RpcService* service = nullptr;
  // Bytes that gRPC may hold of messages that come, over all connections: twice
  // those of the largest request, at least.
  size_t memory_bytes = 0;
  // Threads that serve calls; 0: half as many as there are cores to use, from 1
  // to 16.
  int thread_count = 0;
};

// Thread-safe.
class RpcServer {
 public:
  // Serves what connects to `listener`, from now on.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(
      Listener listener, const RpcServerOptions& options);

  // Cancels open calls after a short grace, waits until the service has
  // finished them, and ends all threads.
  ~RpcServer();

  int port() const { return port_; }

 private:
  struct Impl;
  RpcServer(std::unique_ptr<Impl> impl, int port);
  std::unique_ptr<Impl> impl_;
  int port_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_RPC_SERVER_H_
