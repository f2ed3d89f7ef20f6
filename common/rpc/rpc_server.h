// A task's one listening port.
#ifndef PACELINE_COMMON_RPC_RPC_SERVER_H_
#define PACELINE_COMMON_RPC_RPC_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace grpc {
class Service;
}  // namespace grpc

namespace paceline {

// Thread-safe.
class RpcServer {
 public:
  // Listens on "host:port" and serves `services`, which outlive the server.
  // Port 0 takes a free one. Unavailable names an address that cannot be had.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(
      const std::string& address, absl::Span<grpc::Service* const> services);

  // Ends open calls, after a short grace, and all threads.
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
