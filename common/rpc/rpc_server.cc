#include "common/rpc/rpc_server.h"

#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/cores.h"
#include "common/limits.h"
#include "common/rpc/call_door.h"
#include "common/rpc/connection_acceptor.h"

namespace paceline {
namespace {

// Half of the cores, since callers or computation use the others. On two cores,
// a second thread would be woken for each operation and slow both down.
int ThreadCount() { return std::clamp(UsableCores() / 2, 1, 16); }

void SetKeepalive(const Keepalive& keepalive, grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS,
                             keepalive.is_mutual ? keepalive.time_ms : INT_MAX);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                             keepalive.timeout_ms);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
      kMinPingIntervalMs);
}

void SetLimits(const RpcServerOptions& options, grpc::ServerBuilder& builder) {
  size_t largest = 0;
  for (const RpcService* service : options.services) {
    for (const auto& [name, method] : service->methods()) {
      largest = std::max(largest, method.max_request_bytes);
    }
  }
  builder.SetMaxReceiveMessageSize(
      static_cast<int>(std::min<size_t>(largest, limits::kMaxMessageBytes)));
  builder.SetMaxSendMessageSize(limits::kMaxMessageBytes);
  for (const grpc_compression_algorithm each :
       {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP}) {
    builder.SetCompressionAlgorithmSupportStatus(each, false);
  }
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             limits::kMaxCallsPerConnection);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE,
                             limits::kMaxMetadataBytes);
  builder.AddChannelArgument(
      GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
      static_cast<int>(absl::ToInt64Milliseconds(limits::kGreetingTimeout)));
  builder.AddChannelArgument(
      GRPC_ARG_MAX_CONNECTION_IDLE_MS,
      static_cast<int>(absl::ToInt64Milliseconds(limits::kIdleTimeout)));
}

}  // namespace

struct RpcServer::Impl {
  grpc::ResourceQuota memory{"paceline"};
  std::unique_ptr<CallDoor> door;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> grpc_acceptor;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<ConnectionAcceptor> acceptor;
};

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(
    Listener listener, const RpcServerOptions& options) {
  auto impl = std::make_unique<Impl>();
  grpc::ServerBuilder builder;
  impl->door =
      std::make_unique<CallDoor>(options.guard, options.services, builder);
  impl->grpc_acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      options.tls == nullptr ? grpc::InsecureServerCredentials()
                             : options.tls->ServerCredentials());
  SetKeepalive(options.keepalive, builder);
  SetLimits(options, builder);
  impl->memory.Resize(options.memory_bytes);
  builder.SetResourceQuota(impl->memory);
  impl->server = builder.BuildAndStart();
  const int port = listener.port();
  if (impl->server == nullptr) {
    return absl::InternalError(absl::StrCat("gRPC does not serve port ", port));
  }
  impl->door->Open(options.thread_count > 0 ? options.thread_count
                                            : ThreadCount());
  impl->acceptor = std::make_unique<ConnectionAcceptor>(
      std::move(listener), [raw = impl.get()](FileDescriptor connection) {
        grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters
            parameters;
        parameters.fd = connection.Release();
        raw->grpc_acceptor->HandleNewConnection(&parameters);
      });
  return std::unique_ptr<RpcServer>(new RpcServer(std::move(impl), port));
}

RpcServer::RpcServer(std::unique_ptr<Impl> impl, int port)
    : impl_(std::move(impl)), port_(port) {}

void RpcServer::SetMemoryBytes(size_t bytes) { impl_->memory.Resize(bytes); }

RpcServer::~RpcServer() {
  impl_->acceptor.reset();
  impl_->door->Close(*impl_->server);
}

}  // namespace paceline
