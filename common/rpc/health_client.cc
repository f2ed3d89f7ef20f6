#include "common/rpc/health_client.h"

#include <grpcpp/client_context.h>

#include <chrono>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/base/ticker.h"
#include "common/rpc/call_error.h"
#include "common/rpc/grpc_channel.h"
#include "grpc/health/v1/health.grpc.pb.h"

namespace paceline {
namespace {

using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;

constexpr absl::Duration kHealthInterruptInterval = absl::Milliseconds(50);

// "NOT_SERVING"; the number of a status that the standard does not have.
std::string TextOf(HealthCheckResponse::ServingStatus status) {
  const std::string& name = HealthCheckResponse::ServingStatus_Name(status);
  return name.empty() ? absl::StrCat(status) : name;
}

}  // namespace

absl::Status CheckHealth(const std::string& address, const Tls* tls,
                         const std::string& service, absl::Duration timeout,
                         const std::function<bool()>& interrupted) {
  const auto stub = ::grpc::health::v1::Health::NewStub(
      CreateChannel(address, tls, kServiceKeepalive));
  HealthCheckRequest request;
  request.set_service(service);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       absl::ToChronoNanoseconds(timeout));
  HealthCheckResponse response;
  grpc::Status called;
  {
    const Ticker watch(kHealthInterruptInterval, [&] {
      if (interrupted()) context.TryCancel();
    });
    called = stub->Check(&context, request, &response);
  }
  RETURN_IF_ERROR(CallError(called, "Check", address, timeout));
  if (response.status() == HealthCheckResponse::SERVING) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat(address, ": ", service, " is ",
                                             TextOf(response.status()),
                                             "; expected SERVING"));
}

}  // namespace paceline
