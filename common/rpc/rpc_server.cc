#include "common/rpc/rpc_server.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/mutex.h"
#include "common/identity/call_header.h"
#include "common/limits.h"
#include "common/rpc/connection_acceptor.h"
#include "common/rpc/grpc_status.h"
#include "common/rpc/keepalive.h"

namespace paceline {
namespace {

// A call that is refused before its request is read.
class RefusedCall final : public grpc::ServerGenericBidiReactor {
 public:
  explicit RefusedCall(const absl::Status& status) {
    Finish(ToGrpcStatus(status));
  }
  void OnDone() override { delete this; }
};

// A call that was admitted. gRPC calls its methods, and deletes it after
// Finish.
class AdmittedCall final : public grpc::ServerGenericBidiReactor,
                           public ServerCall {
 public:
  AdmittedCall(const RpcMethod& method,
               std::unique_ptr<CallGuard::Admission> admission)
      : method_(method), admission_(std::move(admission)) {
    FollowOthers();
    StartRead(&request_);
  }

  grpc::ByteBuffer& request() override { return request_; }
  void Finish(const absl::Status& error) override {
    // That code is kept for calls of another job; this is of a file, say.
    const bool is_taken = absl::IsPermissionDenied(error);
    grpc::ServerGenericBidiReactor::Finish(ToGrpcStatus(
        is_taken ? absl::FailedPreconditionError(error.message()) : error));
  }
  void Finish(grpc::ByteBuffer response) override {
    {
      MutexLock lock(mutex_);
      response_ = std::move(response);
    }
    StartWriteAndFinish(&response_, grpc::WriteOptions(), grpc::Status::OK);
  }
  void OnCancelled(std::function<void()> on_cancel) override {
    {
      MutexLock lock(mutex_);
      if (!is_cancelled_) {
        on_cancel_ = std::move(on_cancel);
        return;
      }
    }
    on_cancel();
  }

 private:
  void OnReadDone(bool ok) override {
    FollowOthers();
    if (!ok) return Finish(absl::InvalidArgumentError("there is no request"));
    if (request_.Length() > method_.max_request_bytes) {
      return Finish(absl::ResourceExhaustedError(absl::StrCat(
          "a request of ", request_.Length(), " bytes; expected at most ",
          method_.max_request_bytes)));
    }
    method_.handle(*this);
  }
  void OnCancel() override {
    std::function<void()> on_cancel;
    {
      MutexLock lock(mutex_);
      is_cancelled_ = true;
      on_cancel = std::exchange(on_cancel_, nullptr);
    }
    if (on_cancel != nullptr) on_cancel();
  }
  void OnDone() override {
    FollowOthers();
    delete this;
  }
  // gRPC orders these calls by itself, which the thread sanitizer cannot see:
  // so each first takes the lock that those before it have let go.
  void FollowOthers() { MutexLock lock(mutex_); }

  const RpcMethod& method_;
  const std::unique_ptr<CallGuard::Admission> admission_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  Mutex mutex_;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> on_cancel_ ABSL_GUARDED_BY(mutex_);
};

// All calls come through here: gRPC shows their metadata before it receives
// their requests.
class Door final : public grpc::CallbackGenericService {
 public:
  Door(std::shared_ptr<CallGuard> guard, const RpcService& service)
      : guard_(std::move(guard)), service_(service) {}

  // gRPC makes no call after this; the lock shows that to the thread sanitizer.
  ~Door() override { MutexLock lock(mutex_); }

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    grpc::ServerGenericBidiReactor* const reactor = Answer(context);
    MutexLock lock(mutex_);
    return reactor;
  }

 private:
  grpc::ServerGenericBidiReactor* Answer(
      grpc::GenericCallbackServerContext* context) {
    const auto method = service_.methods().find(context->method());
    if (method == service_.methods().end()) {
      return new RefusedCall(
          absl::UnimplementedError("this task has no such method"));
    }
    const std::string peer = context->peer();
    absl::StatusOr<std::unique_ptr<CallGuard::Admission>> admission =
        guard_->Admit(peer, method->first, HeaderOf(*context),
                      method->second.needs_job);
    if (!admission.ok()) {
      if (absl::IsUnauthenticated(admission.status())) {
        context->AddTrailingMetadata(kChallengeKey, guard_->Challenge(peer));
      }
      return new RefusedCall(admission.status());
    }
    return new AdmittedCall(method->second, *std::move(admission));
  }

  static absl::string_view HeaderOf(
      const grpc::GenericCallbackServerContext& context) {
    const auto found = context.client_metadata().find(kHeaderKey);
    if (found == context.client_metadata().end()) return "";
    return {found->second.data(), found->second.size()};
  }

  const std::shared_ptr<CallGuard> guard_;
  const RpcService& service_;
  Mutex mutex_;
};

void SetKeepalive(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                             kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
      kKeepaliveTimeMs / 2);
}

void SetLimits(const RpcServerOptions& options, grpc::ServerBuilder& builder) {
  size_t largest = 0;
  for (const auto& [name, method] : options.service->methods()) {
    largest = std::max(largest, method.max_request_bytes);
  }
  builder.SetMaxReceiveMessageSize(
      static_cast<int>(std::min<size_t>(largest, limits::kMaxMessageBytes)));
  builder.SetMaxSendMessageSize(limits::kMaxMessageBytes);
  builder.SetResourceQuota(
      grpc::ResourceQuota("paceline").Resize(options.memory_bytes));
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
  explicit Impl(const RpcServerOptions& options)
      : door(options.guard, *options.service) {}

  Door door;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> grpc_acceptor;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<ConnectionAcceptor> acceptor;
};

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(
    Listener listener, const RpcServerOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  grpc::ServerBuilder builder;
  builder.RegisterCallbackGenericService(&impl->door);
  impl->grpc_acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::InsecureServerCredentials());
  SetKeepalive(builder);
  SetLimits(options, builder);
  impl->server = builder.BuildAndStart();
  const int port = listener.port();
  if (impl->server == nullptr) {
    return absl::InternalError(absl::StrCat("gRPC does not serve port ", port));
  }
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

RpcServer::~RpcServer() {
  impl_->acceptor.reset();
  impl_->server->Shutdown(
      absl::ToChronoTime(absl::Now() + absl::Milliseconds(200)));
}

}  // namespace paceline
