#include "common/session/coordinator_service.h"

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "common/limits.h"
#include "common/rpc/grpc_status.h"

namespace paceline {
namespace {

// Ends a call with its answer or error.
template <typename Response>
grpc::ServerUnaryReactor* Finish(grpc::CallbackServerContext* context,
                                 absl::StatusOr<Response> answer,
                                 Response* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const absl::Status status = answer.status();
  if (status.ok()) *response = *std::move(answer);
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

// The same for an answer that is empty.
grpc::ServerUnaryReactor* Finish(grpc::CallbackServerContext* context,
                                 const absl::Status& status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

// Parks a call until `ask(session, now)` has an answer; answers `not_yet` when
// patience is over.
template <typename Response, typename Ask>
grpc::ServerUnaryReactor* FinishLater(SharedSession& session,
                                      grpc::CallbackServerContext* context,
                                      Ask ask, Response not_yet,
                                      Response* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  session.Await(
      [=, ask = std::move(ask), not_yet = std::move(not_yet)](
          Session& state, absl::Time now, bool last_try) {
        absl::StatusOr<std::optional<Response>> answer = ask(state, now);
        if (answer.ok() && !answer->has_value()) {
          if (!last_try) return false;
          answer = not_yet;
        }
        const absl::Status status = answer.status();
        if (status.ok()) *response = **std::move(answer);
        reactor->Finish(ToGrpcStatus(status));
        return true;
      },
      limits::kLongPoll);
  return reactor;
}

}  // namespace

grpc::ServerUnaryReactor* CoordinatorService::Register(
    grpc::CallbackServerContext* context, const v1::RegisterRequest* request,
    v1::RegisterResponse* response) {
  return Finish(context, session_.Handle([&](Session& session, absl::Time now) {
    return session.Register(*request, now);
  }),
                response);
}

grpc::ServerUnaryReactor* CoordinatorService::AwaitStart(
    grpc::CallbackServerContext* context, const v1::AwaitStartRequest* request,
    v1::AwaitStartResponse* response) {
  return FinishLater(
      session_, context,
      [request](Session& session, absl::Time now) {
        return session.AwaitStart(*request, now);
      },
      v1::AwaitStartResponse(), response);
}

grpc::ServerUnaryReactor* CoordinatorService::AcquireLease(
    grpc::CallbackServerContext* context,
    const v1::AcquireLeaseRequest* request,
    v1::AcquireLeaseResponse* response) {
  v1::AcquireLeaseResponse wait;
  wait.set_verdict(v1::AcquireLeaseResponse::VERDICT_WAIT);
  return FinishLater(
      session_, context,
      [request](Session& session, absl::Time now) {
        return session.AcquireLease(*request, now);
      },
      std::move(wait), response);
}

grpc::ServerUnaryReactor* CoordinatorService::Heartbeat(
    grpc::CallbackServerContext* context, const v1::HeartbeatRequest* request,
    v1::HeartbeatResponse* response) {
  return Finish(context, session_.Handle([&](Session& session, absl::Time now) {
    return session.Heartbeat(*request, now);
  }),
                response);
}

grpc::ServerUnaryReactor* CoordinatorService::ReportCheckpoint(
    grpc::CallbackServerContext* context,
    const v1::ReportCheckpointRequest* request,
    v1::ReportCheckpointResponse* /*response*/) {
  return Finish(context, session_.Handle([&](Session& session, absl::Time) {
    return session.ReportCheckpoint(*request);
  }));
}

grpc::ServerUnaryReactor* CoordinatorService::Leave(
    grpc::CallbackServerContext* context, const v1::LeaveRequest* request,
    v1::LeaveResponse* /*response*/) {
  return Finish(context, session_.Handle([&](Session& session, absl::Time now) {
    return session.Leave(*request, now);
  }));
}

}  // namespace paceline
