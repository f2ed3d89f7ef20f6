#include "common/rpc/rpc_server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/limits.h"
#include "common/rpc/keepalive.h"

namespace paceline {

struct RpcServer::Impl {
  std::unique_ptr<grpc::Server> server;
};

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(
    const std::string& address, absl::Span<grpc::Service* const> services) {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  // Without this two servers could share a port, and calls go astray.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                             kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
      kKeepaliveTimeMs / 2);
  builder.SetMaxReceiveMessageSize(limits::kMaxMessageBytes);
  builder.SetMaxSendMessageSize(limits::kMaxMessageBytes);
  for (grpc::Service* service : services) builder.RegisterService(service);
  auto impl = std::make_unique<Impl>();
  impl->server = builder.BuildAndStart();
  if (impl->server == nullptr || port == 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address,
                     "; expected a free port and an address of this machine"));
  }
  return std::unique_ptr<RpcServer>(new RpcServer(std::move(impl), port));
}

RpcServer::RpcServer(std::unique_ptr<Impl> impl, int port)
    : impl_(std::move(impl)), port_(port) {}

RpcServer::~RpcServer() {
  impl_->server->Shutdown(
      absl::ToChronoTime(absl::Now() + absl::Milliseconds(200)));
}

}  // namespace paceline
