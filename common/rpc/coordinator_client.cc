#include "common/rpc/coordinator_client.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/rpc/blocking_calls.h"
#include "common/rpc/call_channel.h"
#include "paceline/v1/coordinator.grpc.pb.h"

namespace paceline {

struct CoordinatorClient::Impl {
  Impl(const std::string& address, std::shared_ptr<const Caller> caller)
      : channel(address, std::move(caller)) {}

  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(const char* name, const std::string& callee,
                                const Request& request, absl::Duration timeout,
                                bool fail_fast = false) {
    return CallAndWait<Request, Response>(
        channel, v1::CoordinatorService::service_full_name(), name, callee,
        request, {.timeout = timeout, .fail_fast = fail_fast});
  }

  CallChannel channel;
};

CoordinatorClient::CoordinatorClient(const std::string& address,
                                     std::shared_ptr<const Caller> caller)
    : description_(absl::StrCat("the coordinator at ", address)),
      impl_(std::make_unique<Impl>(address, std::move(caller))) {}

CoordinatorClient::~CoordinatorClient() = default;

absl::StatusOr<v1::RegisterResponse> CoordinatorClient::Register(
    const v1::RegisterRequest& request, absl::Duration timeout) {
  return impl_->Call<v1::RegisterRequest, v1::RegisterResponse>(
      "Register", description_, request, timeout, /*fail_fast=*/true);
}

#define PACELINE_COORDINATOR_CALL(Name)                           \
  absl::StatusOr<v1::Name##Response> CoordinatorClient::Name(     \
      const v1::Name##Request& request, absl::Duration timeout) { \
    return impl_->Call<v1::Name##Request, v1::Name##Response>(    \
        #Name, description_, request, timeout);                   \
  }
PACELINE_COORDINATOR_CALL(AwaitStart)
PACELINE_COORDINATOR_CALL(AcquireLease)
PACELINE_COORDINATOR_CALL(Heartbeat)
PACELINE_COORDINATOR_CALL(ReportCheckpoint)
PACELINE_COORDINATOR_CALL(ReportOrder)
PACELINE_COORDINATOR_CALL(ReportTrace)
PACELINE_COORDINATOR_CALL(ReportImages)
PACELINE_COORDINATOR_CALL(Leave)
#undef PACELINE_COORDINATOR_CALL

}  // namespace paceline
