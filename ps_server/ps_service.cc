#include "ps_server/ps_service.h"

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

}  // namespace

grpc::ServerUnaryReactor* PsService::Initialize(
    grpc::CallbackServerContext* context, const v1::InitializeRequest* request,
    v1::InitializeResponse* response) {
  return Finish(context, shard_.Initialize(*request, *response));
}

grpc::ServerUnaryReactor* PsService::Push(grpc::CallbackServerContext* context,
                                          const v1::PushRequest* request,
                                          v1::PushResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  shard_.Push(*request, *response, [reactor](const absl::Status& status) {
    reactor->Finish(ToGrpcStatus(status));
  });
  return reactor;
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
        if (result.ok()) *response = *result;
        reactor->Finish(ToGrpcStatus(result.status()));
      });
  return reactor;
}

}  // namespace paceline
