#include "common/session/leader/coordinator_service.h"

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "common/limits.h"
#include "paceline/v1/coordinator.grpc.pb.h"

namespace paceline {
namespace {

// Size of a trace, or of the images of the first batch, as a request, in bytes.
// A trace has up to 3 MB of spans and 1 MB of texts, images have up to 4 MiB.
constexpr size_t kMaxTraceMessageBytes = size_t{5} << 20;

using Done = std::function<void(const absl::Status&)>;

// Ends a call with its answer or error.
template <typename Response>
void Finish(absl::StatusOr<Response> answer, Response& response,
            const Done& done) {
  if (answer.ok()) response = *std::move(answer);
  done(answer.status());
}

// Parks a call until `ask(session, now)` has an answer. Answers `not_yet` if
// there is none after limits::kLongPoll.
template <typename Response, typename Ask>
void FinishLater(SharedSession& session, Ask ask, Response not_yet,
                 Response& response, Done done) {
  session.Await(
      [&response, ask = std::move(ask), not_yet = std::move(not_yet),
       done = std::move(done)](Session& state, absl::Time now, bool last_try) {
        absl::StatusOr<std::optional<Response>> answer = ask(state, now);
        if (answer.ok() && !answer->has_value()) {
          if (!last_try) return false;
          answer = not_yet;
        }
        if (answer.ok()) response = **std::move(answer);
        done(answer.status());
        return true;
      },
      limits::kLongPoll);
}

}  // namespace

CoordinatorService::CoordinatorService(SharedSession& session)
    : RpcService(v1::CoordinatorService::service_full_name()),
      session_(session) {
  AddMessages<v1::RegisterRequest, v1::RegisterResponse>(
      "Register", limits::kMaxControlBytes,
      [this](const v1::RegisterRequest& request, v1::RegisterResponse& response,
             const Done& done) {
        Finish(session_.Handle([&](Session& state, absl::Time now) {
          return state.Register(request, now);
        }),
               response, done);
      },
      Access::kNewcomers);
  AddWaitingCalls();
  AddReports();
}

void CoordinatorService::AddWaitingCalls() {
  AddMessages<v1::AwaitStartRequest, v1::AwaitStartResponse>(
      "AwaitStart", limits::kMaxControlBytes,
      [this](const v1::AwaitStartRequest& request,
             v1::AwaitStartResponse& response, Done done) {
        FinishLater(
            session_,
            [&request](Session& state, absl::Time now) {
              return state.AwaitStart(request, now);
            },
            v1::AwaitStartResponse(), response, std::move(done));
      });
  AddMessages<v1::AcquireLeaseRequest, v1::AcquireLeaseResponse>(
      "AcquireLease", limits::kMaxControlBytes,
      [this](const v1::AcquireLeaseRequest& request,
             v1::AcquireLeaseResponse& response, Done done) {
        v1::AcquireLeaseResponse wait;
        wait.set_verdict(v1::AcquireLeaseResponse::VERDICT_WAIT);
        FinishLater(
            session_,
            [&request](Session& state, absl::Time now) {
              return state.AcquireLease(request, now);
            },
            std::move(wait), response, std::move(done));
      });
}

void CoordinatorService::AddReports() {
  AddMessages<v1::HeartbeatRequest, v1::HeartbeatResponse>(
      "Heartbeat", limits::kMaxControlBytes,
      [this](const v1::HeartbeatRequest& request,
             v1::HeartbeatResponse& response, const Done& done) {
        Finish(session_.Handle([&](Session& state, absl::Time now) {
          return state.Heartbeat(request, now);
        }),
               response, done);
      });
  AddMessages<v1::ReportCheckpointRequest, v1::ReportCheckpointResponse>(
      "ReportCheckpoint", limits::kMaxControlBytes,
      [this](const v1::ReportCheckpointRequest& request,
             v1::ReportCheckpointResponse& /*response*/, const Done& done) {
        done(session_.Handle([&](Session& state, absl::Time /*now*/) {
          return state.ReportCheckpoint(request);
        }));
      });
  AddMessages<v1::ReportOrderRequest, v1::ReportOrderResponse>(
      "ReportOrder", limits::kMaxControlBytes,
      [this](const v1::ReportOrderRequest& request,
             v1::ReportOrderResponse& /*response*/, const Done& done) {
        done(session_.Handle([&](Session& state, absl::Time now) {
          return state.ReportOrder(request, now);
        }));
      });
  AddMessages<v1::ReportTraceRequest, v1::ReportTraceResponse>(
      "ReportTrace", kMaxTraceMessageBytes,
      [this](const v1::ReportTraceRequest& request,
             v1::ReportTraceResponse& /*response*/, const Done& done) {
        done(session_.Handle([&](Session& state, absl::Time /*now*/) {
          return state.ReportTrace(request);
        }));
      });
  AddMessages<v1::ReportImagesRequest, v1::ReportImagesResponse>(
      "ReportImages", kMaxTraceMessageBytes,
      [this](const v1::ReportImagesRequest& request,
             v1::ReportImagesResponse& /*response*/, const Done& done) {
        done(session_.Handle([&](Session& state, absl::Time /*now*/) {
          return state.ReportImages(request);
        }));
      });
  AddMessages<v1::LeaveRequest, v1::LeaveResponse>(
      "Leave", limits::kMaxControlBytes,
      [this](const v1::LeaveRequest& request, v1::LeaveResponse& /*response*/,
             const Done& done) {
        done(session_.Handle([&](Session& state, absl::Time now) {
          return state.Leave(request, now);
        }));
      });
}

}  // namespace paceline
