#include "ps_server/ps_service.h"

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <thread>
#include <utility>

#include "common/base/mutex.h"
#include "common/rpc/grpc_status.h"
#include "ps_server/slot_server.h"

namespace paceline {
namespace {

// Ends a call that is done.
grpc::ServerUnaryReactor* Finish(grpc::CallbackServerContext* context,
                                 const absl::Status& status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

// gRPC hands out the bytes of a request as const, though they are the call's
// own; once read they go, so that they take no memory while the call waits.
grpc::ByteBuffer& Mine(const grpc::ByteBuffer* bytes) {
  return const_cast<grpc::ByteBuffer&>(*bytes);
}

// Reads a request without blocks.
template <typename Request>
absl::Status Read(const grpc::ByteBuffer* bytes, Request& request) {
  const grpc::Status status =
      grpc::SerializationTraits<Request>::Deserialize(&Mine(bytes), &request);
  return status.ok() ? absl::OkStatus()
                     : absl::InvalidArgumentError(status.error_message());
}

// Not Unavailable, by which callers take a server for gone for the moment.
absl::Status FailedToAttach(const absl::Status& reason) {
  return absl::FailedPreconditionError(reason.message());
}

// Serves a worker through its memory until its call is cancelled: by itself, by
// the end of its connection, or by that of this server.
class Attachment final : public grpc::ServerUnaryReactor {
 public:
  // Calls `on_end` when its thread is about to end, and this is gone.
  Attachment(CallSlot slot, Shard& shard, std::function<void()> on_end) {
    MutexLock lock(mutex_);
    server_ = std::make_shared<SlotServer>(std::move(slot), shard);
    std::thread([this, server = server_, on_end = std::move(on_end)]() mutable {
      server->Run();
      server.reset();
      Finish(grpc::Status::CANCELLED);
      on_end();
    }).detach();
  }

  void OnCancel() override {
    MutexLock lock(mutex_);
    server_->Close();
  }
  void OnDone() override { delete this; }

 private:
  // gRPC orders these calls by itself, which the thread sanitizer cannot see.
  Mutex mutex_;
  std::shared_ptr<SlotServer> server_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

PsService::PsService(Shard& shard)
    : shard_(shard), memory_(std::make_shared<BlockMemoryPool>()) {}

PsService::~PsService() {
  MutexLock lock(mutex_);
  while (serving_count_ > 0) serving_ended_.WaitFor(mutex_, absl::Seconds(1));
}

grpc::ServerUnaryReactor* PsService::Initialize(
    grpc::CallbackServerContext* context, const v1::InitializeRequest* request,
    v1::InitializeResponse* response) {
  return Finish(context, shard_.Initialize(*request, *response));
}

grpc::ServerUnaryReactor* PsService::Push(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* response) {
  const auto push = std::make_shared<PushMessages>(memory_);
  const absl::Status read = ReadPush(Mine(request), *push);
  Mine(request).Clear();
  if (!read.ok()) return Finish(context, read);
  if (push->request.pull()) {
    push->MakePlaces(shard_.block_sizes(push->request.chunk()));
  }
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  shard_.Push(push->request, push->gradients, push->response,
              absl::MakeSpan(push->variables),
              [push, response, reactor](const absl::Status& status) {
                if (status.ok()) {
                  *response = WriteResponse(push);
                }
                reactor->Finish(ToGrpcStatus(status));
              });
  return reactor;
}

grpc::ServerUnaryReactor* PsService::Apply(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) {
  return AnswerWithVariables<v1::ApplyRequest, v1::ApplyResponse>(
      context, request, response, &Shard::Apply);
}

grpc::ServerUnaryReactor* PsService::Pull(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* response) {
  return AnswerWithVariables<v1::PullRequest, v1::PullResponse>(
      context, request, response, &Shard::Pull);
}

template <typename Request, typename Response>
grpc::ServerUnaryReactor* PsService::AnswerWithVariables(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response,
    absl::Status (Shard::*method)(const Request&, Response&,
                                  absl::Span<DensePlace>)) {
  const auto messages =
      std::make_shared<BlockMessages<Request, Response>>(memory_);
  absl::Status status = Read(request, messages->request);
  if (status.ok()) {
    messages->MakePlaces(shard_.block_sizes(messages->request.chunk()));
    status = (shard_.*method)(messages->request, messages->response,
                              absl::MakeSpan(messages->variables));
  }
  if (status.ok()) *response = WriteResponse(messages);
  return Finish(context, status);
}

grpc::ServerUnaryReactor* PsService::Attach(
    grpc::CallbackServerContext* context, const v1::AttachRequest* request,
    v1::AttachResponse* /*response*/) {
  const RegionReference memory = {request->process(), request->fd(),
                                  request->device(), request->inode()};
  MutexLock lock(mutex_);
  absl::StatusOr<CallSlot> slot = CallSlot::Open(memory, request->token());
  if (!slot.ok()) return Finish(context, FailedToAttach(slot.status()));
  ++serving_count_;
  return new Attachment(*std::move(slot), shard_, [this] {
    MutexLock ended(mutex_);
    --serving_count_;
    serving_ended_.NotifyAll();
  });
}

grpc::ServerUnaryReactor* PsService::Fence(grpc::CallbackServerContext* context,
                                           const v1::FenceRequest* request,
                                           v1::FenceResponse* response) {
  return Finish(context, shard_.Fence(*request, *response));
}

grpc::ServerUnaryReactor* PsService::Snapshot(
    grpc::CallbackServerContext* context, const v1::SnapshotRequest* request,
    v1::SnapshotResponse* response) {
  return Finish(context, shard_.Snapshot(*request, *response));
}

grpc::ServerUnaryReactor* PsService::WriteCheckpoint(
    grpc::CallbackServerContext* context,
    const v1::WriteCheckpointRequest* request,
    v1::WriteCheckpointResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  shard_.WriteCheckpoint(
      *request, [reactor, response](const Checkpointer::Result& result) {
        if (result.ok()) *response->mutable_file() = ToProto(*result);
        reactor->Finish(ToGrpcStatus(result.status()));
      });
  return reactor;
}

}  // namespace paceline
