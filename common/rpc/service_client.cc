#include "common/rpc/service_client.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/rpc/blocking_calls.h"
#include "common/rpc/call_channel.h"
#include "paceline/v1/service.grpc.pb.h"

namespace paceline {
namespace {

absl::Duration TimeoutOf(bool waits_for_news) {
  return waits_for_news ? kServiceTimeout + kServicePoll : kServiceTimeout;
}

}  // namespace

struct ServiceClient::Impl {
  Impl(const std::string& address, std::shared_ptr<const Caller> caller)
      : channel(address, std::move(caller), kServiceKeepalive) {}

  CallChannel channel;
};

ServiceClient::ServiceClient(const std::string& address,
                             std::shared_ptr<const Caller> caller)
    : description_(absl::StrCat("the coordinator at ", address)),
      impl_(std::make_unique<Impl>(address, std::move(caller))) {}

ServiceClient::~ServiceClient() = default;

void ServiceClient::StartSync(const v1::SyncRequest& request, SyncDone done) {
  const CallChannel::Options options = {
      .timeout = kServiceTimeout + kServicePoll, .fail_fast = true};
  impl_->channel.Start(
      absl::StrCat("/", v1::DaemonService::service_full_name(), "/Sync"),
      WriteMessage(request), options,
      [this, options, done = std::move(done)](const absl::Status& status,
                                              grpc::ByteBuffer& bytes) {
        v1::SyncResponse response;
        const absl::Status read =
            status.ok() ? ReadMessage(bytes, response) : status;
        if (read.ok()) return done(std::move(response));
        done(CallError(read, "Sync", description_, options.timeout));
      });
}

void ServiceClient::CancelAll() { impl_->channel.CancelAll(); }

#define PACELINE_SERVICE_CALL(Service, Name, timeout_expression)               \
  absl::StatusOr<v1::Name##Response> ServiceClient::Name(                      \
      const v1::Name##Request& request) {                                      \
    return CallAndWait<v1::Name##Request, v1::Name##Response>(                 \
        impl_->channel, v1::Service::service_full_name(), #Name, description_, \
        request, {.timeout = timeout_expression, .fail_fast = true});          \
  }
PACELINE_SERVICE_CALL(DaemonService, GetTaskFiles, kServiceTimeout)
PACELINE_SERVICE_CALL(DaemonService, AppendLog, kServiceTimeout)
PACELINE_SERVICE_CALL(DaemonService, AddOutputs, kServiceTimeout)
PACELINE_SERVICE_CALL(FileService, FindFiles, kServiceTimeout)
PACELINE_SERVICE_CALL(FileService, PutFile, kServiceTimeout)
PACELINE_SERVICE_CALL(FileService, GetFile, kServiceTimeout)
PACELINE_SERVICE_CALL(JobService, SubmitJob, kServiceTimeout)
PACELINE_SERVICE_CALL(JobService, ListJobs, kServiceTimeout)
PACELINE_SERVICE_CALL(JobService, GetJob,
                      TimeoutOf(request.unlike() != v1::JOB_STATE_UNSPECIFIED))
PACELINE_SERVICE_CALL(JobService, StopJob, kServiceTimeout)
PACELINE_SERVICE_CALL(JobService, DeleteJob, kServiceTimeout)
PACELINE_SERVICE_CALL(JobService, ReadLog, TimeoutOf(request.should_wait()))
PACELINE_SERVICE_CALL(JobService, ListMembers, kServiceTimeout)
PACELINE_SERVICE_CALL(JobService, DrainMember, kServiceTimeout)
PACELINE_SERVICE_CALL(TokenService, CreateToken, kServiceTimeout)
PACELINE_SERVICE_CALL(TokenService, ListTokens, kServiceTimeout)
PACELINE_SERVICE_CALL(TokenService, RevokeToken, kServiceTimeout)
#undef PACELINE_SERVICE_CALL

}  // namespace paceline
