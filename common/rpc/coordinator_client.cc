#include "common/rpc/coordinator_client.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/rpc/call_error.h"
#include "common/rpc/grpc_channel.h"
#include "paceline/v1/coordinator.grpc.pb.h"

namespace paceline {

using Stub = v1::CoordinatorService::Stub;

struct CoordinatorClient::Impl {
  explicit Impl(const std::string& address)
      : stub(v1::CoordinatorService::NewStub(CreateChannel(address))) {}

  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(
      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                   Response*),
      const char* name, const std::string& callee, const Request& request,
      absl::Duration timeout) {
    grpc::ClientContext context;
    SetDeadline(context, timeout);
    Response response;
    RETURN_IF_ERROR(
        CallError((stub.get()->*method)(&context, request, &response), name,
                  callee, timeout));
    return response;
  }

  std::unique_ptr<Stub> stub;
};

CoordinatorClient::CoordinatorClient(const std::string& address)
    : description_(absl::StrCat("the coordinator at ", address)),
      impl_(std::make_unique<Impl>(address)) {}

CoordinatorClient::~CoordinatorClient() = default;

#define PACELINE_COORDINATOR_CALL(Name)                                     \
  absl::StatusOr<v1::Name##Response> CoordinatorClient::Name(               \
      const v1::Name##Request& request, absl::Duration timeout) {           \
    return impl_->Call(&Stub::Name, #Name, description_, request, timeout); \
  }
PACELINE_COORDINATOR_CALL(Register)
PACELINE_COORDINATOR_CALL(AwaitStart)
PACELINE_COORDINATOR_CALL(AcquireLease)
PACELINE_COORDINATOR_CALL(Heartbeat)
PACELINE_COORDINATOR_CALL(ReportCheckpoint)
PACELINE_COORDINATOR_CALL(Leave)
#undef PACELINE_COORDINATOR_CALL

}  // namespace paceline
