// The gRPC service of a parameter server: an adapter over the shard.
#ifndef PACELINE_PS_SERVER_PS_SERVICE_H_
#define PACELINE_PS_SERVER_PS_SERVICE_H_

#include <memory>

#include "paceline/v1/ps.grpc.pb.h"
#include "ps_server/shard.h"

namespace paceline {

// Thread-safe. Handlers wait for no other call, but for Snapshot, which lets
// the pushes under way end first; that which waits for the disk ends on the
// thread that writes.
class PsService : public v1::ParameterServerService::CallbackService {
 public:
  // `shard` outlives the service.
  explicit PsService(Shard& shard);
  ~PsService() override;

  grpc::ServerUnaryReactor* Initialize(
      grpc::CallbackServerContext* context,
      const v1::InitializeRequest* request,
      v1::InitializeResponse* response) override;
  grpc::ServerUnaryReactor* Push(grpc::CallbackServerContext* context,
                                 const v1::PushRequest* request,
                                 v1::PushResponse* response) override;
  grpc::ServerUnaryReactor* Apply(grpc::CallbackServerContext* context,
                                  const v1::ApplyRequest* request,
                                  v1::ApplyResponse* response) override;
  grpc::ServerUnaryReactor* Pull(grpc::CallbackServerContext* context,
                                 const v1::PullRequest* request,
                                 v1::PullResponse* response) override;
  grpc::ServerUnaryReactor* Fence(grpc::CallbackServerContext* context,
                                  const v1::FenceRequest* request,
                                  v1::FenceResponse* response) override;
  grpc::ServerUnaryReactor* Snapshot(grpc::CallbackServerContext* context,
                                     const v1::SnapshotRequest* request,
                                     v1::SnapshotResponse* response) override;
  grpc::ServerUnaryReactor* WriteCheckpoint(
      grpc::CallbackServerContext* context,
      const v1::WriteCheckpointRequest* request,
      v1::WriteCheckpointResponse* response) override;

 private:
  class PushAllocator;

  Shard& shard_;
  const std::unique_ptr<PushAllocator> push_allocator_;
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_PS_SERVICE_H_
