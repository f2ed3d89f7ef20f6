// The gRPC service of a parameter server: an adapter over the shard.
#ifndef PACELINE_PS_SERVER_PS_SERVICE_H_
#define PACELINE_PS_SERVER_PS_SERVICE_H_

#include <grpcpp/support/byte_buffer.h>

#include <memory>

#include "common/base/mutex.h"
#include "paceline/v1/ps.grpc.pb.h"
#include "ps_server/grpc_messages.h"
#include "ps_server/shard.h"

namespace paceline {

// The calls whose messages carry blocks, as bytes; the others as messages.
template <typename Base>
using RawBlockCalls = v1::ParameterServerService::WithRawCallbackMethod_Push<
    v1::ParameterServerService::WithRawCallbackMethod_Apply<
        v1::ParameterServerService::WithRawCallbackMethod_Pull<Base>>>;
template <typename Base>
using OtherCalls = v1::ParameterServerService::WithCallbackMethod_Initialize<
    v1::ParameterServerService::WithCallbackMethod_Attach<
        v1::ParameterServerService::WithCallbackMethod_Fence<
            v1::ParameterServerService::WithCallbackMethod_Snapshot<
                v1::ParameterServerService::WithCallbackMethod_WriteCheckpoint<
                    Base>>>>>;

// Thread-safe. Handlers wait for no other call, but for Snapshot, which lets
// the pushes under way end first; that which waits for the disk ends on the
// thread that writes. Each worker that attaches gets a thread.
class PsService
    : public RawBlockCalls<OtherCalls<v1::ParameterServerService::Service>> {
 public:
  // `shard` outlives the service.
  explicit PsService(Shard& shard);
  // The server that offers it is gone. Waits for the threads of workers.
  ~PsService() override;

  grpc::ServerUnaryReactor* Initialize(
      grpc::CallbackServerContext* context,
      const v1::InitializeRequest* request,
      v1::InitializeResponse* response) override;
  grpc::ServerUnaryReactor* Push(grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* request,
                                 grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* Apply(grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* Pull(grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* request,
                                 grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* Attach(grpc::CallbackServerContext* context,
                                   const v1::AttachRequest* request,
                                   v1::AttachResponse* response) override;
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
  template <typename Request, typename Response>
  grpc::ServerUnaryReactor* AnswerWithVariables(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
      grpc::ByteBuffer* response,
      absl::Status (Shard::*method)(const Request&, Response&,
                                    absl::Span<DensePlace>));

  Shard& shard_;
  // Shared with calls whose answers are still being sent.
  const std::shared_ptr<BlockMemoryPool> memory_;
  Mutex mutex_;
  CondVar serving_ended_;
  // Threads of workers that are attached.
  int serving_count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_PS_SERVICE_H_
