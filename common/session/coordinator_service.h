// The leader's gRPC service: an adapter over the session.
#ifndef PACELINE_COMMON_SESSION_COORDINATOR_SERVICE_H_
#define PACELINE_COMMON_SESSION_COORDINATOR_SERVICE_H_

#include "common/session/shared_session.h"
#include "paceline/v1/coordinator.grpc.pb.h"

namespace paceline {

// Thread-safe. No handler blocks: calls that wait for work are parked in the
// shared session, for limits::kLongPoll at most.
class CoordinatorService : public v1::CoordinatorService::CallbackService {
 public:
  // `session` outlives the service.
  explicit CoordinatorService(SharedSession& session) : session_(session) {}

  grpc::ServerUnaryReactor* Register(grpc::CallbackServerContext* context,
                                     const v1::RegisterRequest* request,
                                     v1::RegisterResponse* response) override;
  grpc::ServerUnaryReactor* AwaitStart(
      grpc::CallbackServerContext* context,
      const v1::AwaitStartRequest* request,
      v1::AwaitStartResponse* response) override;
  grpc::ServerUnaryReactor* AcquireLease(
      grpc::CallbackServerContext* context,
      const v1::AcquireLeaseRequest* request,
      v1::AcquireLeaseResponse* response) override;
  grpc::ServerUnaryReactor* ReportCheckpoint(
      grpc::CallbackServerContext* context,
      const v1::ReportCheckpointRequest* request,
      v1::ReportCheckpointResponse* response) override;
  grpc::ServerUnaryReactor* Heartbeat(grpc::CallbackServerContext* context,
                                      const v1::HeartbeatRequest* request,
                                      v1::HeartbeatResponse* response) override;
  grpc::ServerUnaryReactor* Leave(grpc::CallbackServerContext* context,
                                  const v1::LeaveRequest* request,
                                  v1::LeaveResponse* response) override;

 private:
  SharedSession& session_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_COORDINATOR_SERVICE_H_
