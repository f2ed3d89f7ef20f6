#include "coordinator/service/daemon_service.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/cluster/task_proto.h"
#include "common/identity/mac.h"
#include "common/identity/sha256.h"
#include "common/progress/progress_message.h"
#include "common/transfer/job_paths.h"
#include "common/transfer/pieces.h"
#include "coordinator/queue/demand.h"
#include "coordinator/service/await_answer.h"
#include "coordinator/service/check_contents.h"
#include "paceline/v1/service.grpc.pb.h"

namespace paceline {
namespace {

// Answers that are remembered. Those of daemons that are gone are forgotten
// with all others: each costs one answer that says nothing new.
constexpr size_t kMaxAnswers = 50'000;

// The secret of one start of a job. It is derived rather than stored, so a
// coordinator that was started anew tells it to tasks that start late.
std::string SecretOf(const std::string& key, const v1::JobTask& task) {
  return absl::BytesToHexString(
      HmacSha256(key, absl::StrCat(task.job(), " ", task.generation())));
}

v1::Resources ResourcesOf(const v1::Submission& submission, v1::TaskType type) {
  if (type == v1::TASK_TYPE_CHIEF) return submission.leader();
  for (const v1::TaskGroup& group : submission.groups()) {
    if (group.type() == type) return group.each();
  }
  return {};
}

// The job's record. NotFound unless the task is one of its last start.
absl::StatusOr<const v1::JobRecord*> JobOf(const JobQueue& queue,
                                           const v1::JobTask& task) {
  const v1::JobRecord* const record = queue.FindJob(task.job());
  const bool is_known =
      record != nullptr && record->generation() == task.generation() &&
      std::any_of(record->placements().begin(), record->placements().end(),
                  [&](const v1::Placement& placement) {
                    return placement.task().type() == task.task().type() &&
                           placement.task().index() == task.task().index();
                  });
  if (is_known) return record;
  return absl::NotFoundError(absl::StrCat("job \"", PeerText(task.job()),
                                          "\" has no such task in start ",
                                          task.generation()));
}

// Leaves out checkpoints that have no manifest: they were cut short.
std::vector<v1::JobFile> WithWholeCheckpoints(
    const std::vector<v1::JobFile>& outputs) {
  std::set<std::string> paths;
  for (const v1::JobFile& output : outputs) paths.insert(output.path());
  std::vector<v1::JobFile> kept;
  for (const v1::JobFile& output : outputs) {
    const absl::string_view checkpoint = CheckpointOf(output.path());
    if (checkpoint.empty() ||
        paths.contains(absl::StrCat(checkpoint, "/manifest.json"))) {
      kept.push_back(output);
    }
  }
  return kept;
}

// Whether the queue or the daemon has to know that this very message was
// answered: a task that the daemon was never told of is over with the answer,
// and a daemon that leaves waits for nothing else.
bool AwaitsAnswer(const JobQueue& queue, const v1::SyncRequest& request) {
  if (request.is_leaving()) return true;
  const Daemon& daemon = queue.daemons().at(request.daemon());
  return std::any_of(
      daemon.withdrawn.begin(), daemon.withdrawn.end(),
      [&](const auto& task) { return task.second > request.last_answer(); });
}

}  // namespace

DaemonService::DaemonService(std::string key, SharedQueue& queue,
                             FileStore& files, LogStore& logs,
                             ProgressBoard& progress)
    : RpcService(v1::DaemonService::service_full_name()),
      key_(std::move(key)),
      queue_(queue),
      files_(files),
      logs_(logs),
      progress_(progress) {
  AddMessages<v1::SyncRequest, v1::SyncResponse>(
      "Sync", kMaxDaemonRequestBytes,
      [this](const auto& request, auto& response, const Done& done) {
        Sync(request, response, done);
      },
      Access::kNewcomers);
  AddMessages<v1::GetTaskFilesRequest, v1::GetTaskFilesResponse>(
      "GetTaskFiles", kMaxDaemonRequestBytes,
      [this](const auto& request, auto& response, const Done& done) {
        done(GetTaskFiles(request, response));
      },
      Access::kNewcomers);
  AddMessages<v1::AppendLogRequest, v1::AppendLogResponse>(
      "AppendLog", kMaxDaemonRequestBytes,
      [this](const auto& request, auto& response, const Done& done) {
        done(AppendLog(request, response));
      },
      Access::kNewcomers);
  AddMessages<v1::AddOutputsRequest, v1::AddOutputsResponse>(
      "AddOutputs", kMaxDaemonRequestBytes,
      [this](const auto& request, auto& /*response*/, const Done& done) {
        done(AddOutputs(request));
      },
      Access::kNewcomers);
}

void DaemonService::Sync(const v1::SyncRequest& request,
                         v1::SyncResponse& response, const Done& done) {
  // This message ends the wait of an earlier one.
  AwaitAnswer(
      queue_, NewsOfDaemon(request.daemon()), /*is_news=*/true, response, done,
      [this, &request](SharedQueue::Books& books, bool is_last_try)
          -> absl::StatusOr<std::optional<v1::SyncResponse>> {
        ASSIGN_OR_RETURN(v1::SyncResponse answer,
                         books.queue.Sync(request, books.now));
        for (v1::TaskOrder& order : *answer.mutable_orders()) {
          Complete(books.queue, order);
        }
        const bool is_known = Knows(books.queue, request, answer, is_last_try);
        if (is_known) return std::nullopt;
        return answer;
      });
}

void DaemonService::Complete(const JobQueue& queue,
                             v1::TaskOrder& order) const {
  const v1::Submission& submission =
      queue.FindJob(order.task().job())->submission();
  order.set_secret(SecretOf(key_, order.task()));
  const v1::TaskType type = order.task().task().type();
  *order.mutable_resources() = ResourcesOf(submission, type);
  if (type == v1::TASK_TYPE_CHIEF) {
    *order.mutable_overrides() = submission.overrides();
  }
}

bool DaemonService::Knows(const JobQueue& queue, const v1::SyncRequest& request,
                          const v1::SyncResponse& response, bool is_last_try) {
  // For another coordinator: the daemon has to learn of this one.
  if (response.coordinator() != request.coordinator()) return false;
  v1::SyncResponse orders;
  *orders.mutable_orders() = response.orders();
  std::string hash = Sha256Hex(orders.SerializeAsString());
  if (answered_.size() > kMaxAnswers) answered_.clear();
  Answered& last = answered_[request.daemon()];
  if (!is_last_try && !AwaitsAnswer(queue, request) &&
      last.incarnation == request.incarnation() &&
      last.sequence == request.last_answer() && last.orders_hash == hash) {
    return true;
  }
  last = {request.incarnation(), request.sequence(), std::move(hash)};
  return false;
}

absl::Status DaemonService::GetTaskFiles(const v1::GetTaskFilesRequest& request,
                                         v1::GetTaskFilesResponse& response) {
  return queue_.Handle([&](SharedQueue::Books books) -> absl::Status {
    ASSIGN_OR_RETURN(const v1::JobRecord* const record,
                     JobOf(books.queue, request.task()));
    ASSIGN_OR_RETURN(const std::vector<v1::JobFile> outputs,
                     books.store.Outputs(record->id()));
    // What a job has left takes the place of what came with it.
    std::map<std::string, v1::JobFile> files;
    for (const v1::JobFile& file : record->submission().files()) {
      files[file.path()] = file;
    }
    for (const v1::JobFile& output : WithWholeCheckpoints(outputs)) {
      files[output.path()] = output;
    }
    for (const auto& [path, file] : files) *response.add_files() = file;
    return absl::OkStatus();
  });
}

absl::Status DaemonService::AppendLog(const v1::AppendLogRequest& request,
                                      v1::AppendLogResponse& response) {
  if (request.text().size() > kMaxLogPieceBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("text: ", request.text().size(),
                     " bytes; expected at most ", kMaxLogPieceBytes));
  }
  ASSIGN_OR_RETURN(const TaskId task, TaskFromProto(request.task().task()));
  if (request.has_progress()) {
    if (task != kLeaderTask) {
      return absl::InvalidArgumentError(absl::StrCat(
          "progress: of ", task.ToString(), "; expected that of the leader"));
    }
    RETURN_IF_ERROR(CheckJobProgress(request.progress()));
  }
  const std::string& id = request.task().job();
  RETURN_IF_ERROR(queue_.Handle([&](SharedQueue::Books books) -> absl::Status {
    RETURN_IF_ERROR(JobOf(books.queue, request.task()).status());
    // Before the text, so that who reads the text finds it.
    if (request.has_progress()) {
      progress_.Put(id, request.task().generation(), request.progress(),
                    OpenJobsOf(books.queue));
    }
    response.set_wants_progress(progress_.IsFollowed(id, books.now));
    return absl::OkStatus();
  }));
  ASSIGN_OR_RETURN(
      const int64_t size,
      logs_.Append(id, request.task().generation(), task,
                   static_cast<int64_t>(request.offset()), request.text()));
  response.set_size(static_cast<uint64_t>(size));
  queue_.Wake(NewsOfLogs(id));
  return absl::OkStatus();
}

absl::Status DaemonService::AddOutputs(const v1::AddOutputsRequest& request) {
  RETURN_IF_ERROR(CheckFileCount("files", request.files_size()));
  RETURN_IF_ERROR(CheckFileCount("removed", request.removed_size()));
  RETURN_IF_ERROR(CheckJobFiles("files", request.files(), kOutputFolder));
  RETURN_IF_ERROR(CheckContents(files_, request.files()));
  for (const std::string& path : request.removed()) {
    RETURN_IF_ERROR(CheckJobPath("removed", path, kOutputFolder));
  }
  return queue_.Handle([&](SharedQueue::Books books) -> absl::Status {
    ASSIGN_OR_RETURN(const v1::JobRecord* const record,
                     JobOf(books.queue, request.task()));
    const std::vector<v1::JobFile> files(request.files().begin(),
                                         request.files().end());
    return books.store.ChangeOutputs(
        record->id(), files,
        {request.removed().begin(), request.removed().end()});
  });
}

}  // namespace paceline
