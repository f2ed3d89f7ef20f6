// What daemons and people ask of the coordinator of a service.
#ifndef PACELINE_COMMON_RPC_SERVICE_CLIENT_H_
#define PACELINE_COMMON_RPC_SERVICE_CLIENT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/identity/caller.h"
#include "paceline/v1/queue.pb.h"
#include "paceline/v1/service.pb.h"

namespace paceline {

// How long a call may take that is answered at once.
inline constexpr absl::Duration kServiceTimeout = absl::Seconds(10);
// How long the coordinator keeps a call open that waits for news: Sync, GetJob
// with `unlike`, ReadLog with `should_wait`.
inline constexpr absl::Duration kServicePoll = absl::Seconds(5);

// Calls block until the answer or their deadline, which is kServiceTimeout, or
// longer by kServicePoll for those that wait for news. Errors name the call and
// the coordinator's address. Thread-safe.
class ServiceClient {
 public:
  // `address` is "host:port".
  ServiceClient(const std::string& address,
                std::shared_ptr<const Caller> caller);
  ~ServiceClient();

  // For daemons. `done` gets the answer on one of gRPC's threads, and must not
  // block; everything else blocks.
  using SyncDone = std::function<void(absl::StatusOr<v1::SyncResponse>)>;
  void StartSync(const v1::SyncRequest& request, SyncDone done);
  absl::StatusOr<v1::GetTaskFilesResponse> GetTaskFiles(
      const v1::GetTaskFilesRequest& request);
  absl::StatusOr<v1::AppendLogResponse> AppendLog(
      const v1::AppendLogRequest& request);
  absl::StatusOr<v1::AddOutputsResponse> AddOutputs(
      const v1::AddOutputsRequest& request);

  // For both.
  absl::StatusOr<v1::FindFilesResponse> FindFiles(
      const v1::FindFilesRequest& request);
  absl::StatusOr<v1::PutFileResponse> PutFile(
      const v1::PutFileRequest& request);
  absl::StatusOr<v1::GetFileResponse> GetFile(
      const v1::GetFileRequest& request);

  // For people.
  absl::StatusOr<v1::SubmitJobResponse> SubmitJob(
      const v1::SubmitJobRequest& request);
  absl::StatusOr<v1::ListJobsResponse> ListJobs(
      const v1::ListJobsRequest& request);
  absl::StatusOr<v1::GetJobResponse> GetJob(const v1::GetJobRequest& request);
  absl::StatusOr<v1::StopJobResponse> StopJob(
      const v1::StopJobRequest& request);
  absl::StatusOr<v1::DeleteJobResponse> DeleteJob(
      const v1::DeleteJobRequest& request);
  absl::StatusOr<v1::ReadLogResponse> ReadLog(
      const v1::ReadLogRequest& request);
  absl::StatusOr<v1::ListMembersResponse> ListMembers(
      const v1::ListMembersRequest& request);
  absl::StatusOr<v1::DrainMemberResponse> DrainMember(
      const v1::DrainMemberRequest& request);
  absl::StatusOr<v1::CreateTokenResponse> CreateToken(
      const v1::CreateTokenRequest& request);
  absl::StatusOr<v1::ListTokensResponse> ListTokens(
      const v1::ListTokensRequest& request);
  absl::StatusOr<v1::RevokeTokenResponse> RevokeToken(
      const v1::RevokeTokenRequest& request);

  // Ends all open and all future calls with Cancelled.
  void CancelAll();

  // "the coordinator at 127.0.0.1:2222".
  const std::string& description() const { return description_; }

 private:
  struct Impl;
  const std::string description_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_SERVICE_CLIENT_H_
