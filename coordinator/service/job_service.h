// What people ask of the coordinator (proto/paceline/v1/service.proto).
#ifndef PACELINE_COORDINATOR_SERVICE_JOB_SERVICE_H_
#define PACELINE_COORDINATOR_SERVICE_JOB_SERVICE_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/rpc/rpc_service.h"
#include "coordinator/service/progress_board.h"
#include "coordinator/service/shared_queue.h"
#include "coordinator/store/file_store.h"
#include "coordinator/store/log_store.h"
#include "paceline/v1/service.pb.h"

namespace paceline {

// Thread-safe. All must outlive the service.
class JobService : public RpcService {
 public:
  // Members of another `version` get no tasks.
  JobService(std::string version, SharedQueue& queue, FileStore& files,
             LogStore& logs, ProgressBoard& progress);

 private:
  void AddJobs();
  void AddWaits();
  void AddMembers();

  absl::Status Submit(const v1::SubmitJobRequest& request, const Person& person,
                      v1::SubmitJobResponse& response);
  absl::Status List(const v1::ListJobsRequest& request,
                    v1::ListJobsResponse& response);
  absl::Status Delete(const std::string& id, const Person& person);
  // nullopt: the job is still in the state that the caller knows.
  absl::StatusOr<std::optional<v1::GetJobResponse>> Get(
      SharedQueue::Books& books, const v1::GetJobRequest& request,
      bool is_last_try) const;
  absl::StatusOr<v1::JobView> View(SharedQueue::Books& books,
                                   const v1::JobRecord& record) const;
  // nullopt: there is nothing yet, and the caller waits for it.
  absl::StatusOr<std::optional<v1::ReadLogResponse>> Read(
      const SharedQueue::Books& books, const v1::ReadLogRequest& request,
      bool is_last_try) const;
  // The progress of a start of the job, if the caller wants it and has not got
  // it.
  std::optional<ProgressBoard::Entry> NewProgress(
      const SharedQueue::Books& books, const v1::ReadLogRequest& request,
      uint32_t generation) const;
  v1::ListMembersResponse Members(const JobQueue& queue) const;

  const std::string version_;
  SharedQueue& queue_;
  FileStore& files_;
  LogStore& logs_;
  ProgressBoard& progress_;
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_JOB_SERVICE_H_
