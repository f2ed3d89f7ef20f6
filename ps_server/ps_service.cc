#include "ps_server/ps_service.h"

#include <grpcpp/support/message_allocator.h>
#include <grpcpp/support/server_callback.h>

#include "common/rpc/grpc_status.h"

namespace paceline {
namespace {

// Ends a call that is done.
grpc::ServerUnaryReactor* Finish(grpc::CallbackServerContext* context,
                                 const absl::Status& status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

// The messages of one push. The gradients go as soon as they are applied, so
// that they take no memory while the answer is sent.
class PushMessages final
    : public grpc::MessageHolder<v1::PushRequest, v1::PushResponse> {
 public:
  PushMessages() : push_request_(std::make_unique<v1::PushRequest>()) {
    set_request(push_request_.get());
    set_response(&push_response_);
  }

  void FreeRequest() override {
    set_request(nullptr);
    push_request_.reset();
  }
  void Release() override { delete this; }

 private:
  std::unique_ptr<v1::PushRequest> push_request_;
  v1::PushResponse push_response_;
};

}  // namespace

class PsService::PushAllocator final
    : public grpc::MessageAllocator<v1::PushRequest, v1::PushResponse> {
 public:
  grpc::MessageHolder<v1::PushRequest, v1::PushResponse>* AllocateMessages()
      override {
    return new PushMessages;
  }
};

PsService::PsService(Shard& shard)
    : shard_(shard), push_allocator_(std::make_unique<PushAllocator>()) {
  SetMessageAllocatorFor_Push(push_allocator_.get());
}

PsService::~PsService() = default;

grpc::ServerUnaryReactor* PsService::Initialize(
    grpc::CallbackServerContext* context, const v1::InitializeRequest* request,
    v1::InitializeResponse* response) {
  return Finish(context, shard_.Initialize(*request, *response));
}

grpc::ServerUnaryReactor* PsService::Push(grpc::CallbackServerContext* context,
                                          const v1::PushRequest* request,
                                          v1::PushResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  shard_.Push(*request, *response,
              [context, reactor](const absl::Status& status) {
                context->GetRpcAllocatorState()->FreeRequest();
                reactor->Finish(ToGrpcStatus(status));
              });
  return reactor;
}

grpc::ServerUnaryReactor* PsService::Apply(grpc::CallbackServerContext* context,
                                           const v1::ApplyRequest* request,
                                           v1::ApplyResponse* response) {
  return Finish(context, shard_.Apply(*request, *response));
}

grpc::ServerUnaryReactor* PsService::Pull(grpc::CallbackServerContext* context,
                                          const v1::PullRequest* request,
                                          v1::PullResponse* response) {
  return Finish(context, shard_.Pull(*request, *response));
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
