// A member's calls to the leader of its job.
#ifndef PACELINE_COMMON_RPC_COORDINATOR_CLIENT_H_
#define PACELINE_COMMON_RPC_COORDINATOR_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/identity/caller.h"
#include "paceline/v1/coordinator.pb.h"

namespace paceline {

// Calls block until the answer or the deadline. Errors name the call and the
// leader's address. Thread-safe.
class CoordinatorClient {
 public:
  // `address` is "host:port".
  CoordinatorClient(const std::string& address,
                    std::shared_ptr<const Caller> caller);
  ~CoordinatorClient();

  // Ends with Unavailable, which says why, when no connection comes about.
  absl::StatusOr<v1::RegisterResponse> Register(
      const v1::RegisterRequest& request, absl::Duration timeout);
  absl::StatusOr<v1::AwaitStartResponse> AwaitStart(
      const v1::AwaitStartRequest& request, absl::Duration timeout);
  absl::StatusOr<v1::AcquireLeaseResponse> AcquireLease(
      const v1::AcquireLeaseRequest& request, absl::Duration timeout);
  absl::StatusOr<v1::HeartbeatResponse> Heartbeat(
      const v1::HeartbeatRequest& request, absl::Duration timeout);
  absl::StatusOr<v1::ReportCheckpointResponse> ReportCheckpoint(
      const v1::ReportCheckpointRequest& request, absl::Duration timeout);
  absl::StatusOr<v1::ReportOrderResponse> ReportOrder(
      const v1::ReportOrderRequest& request, absl::Duration timeout);
  absl::StatusOr<v1::ReportTraceResponse> ReportTrace(
      const v1::ReportTraceRequest& request, absl::Duration timeout);
  absl::StatusOr<v1::ReportImagesResponse> ReportImages(
      const v1::ReportImagesRequest& request, absl::Duration timeout);
  absl::StatusOr<v1::LeaveResponse> Leave(const v1::LeaveRequest& request,
                                          absl::Duration timeout);

  // "the coordinator at 127.0.0.1:2222".
  const std::string& description() const { return description_; }

 private:
  struct Impl;
  const std::string description_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_COORDINATOR_CLIENT_H_
