#include "coordinator/service/job_service.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/base/unexpected_value.h"
#include "common/cluster/task_proto.h"
#include "common/limits.h"
#include "common/transfer/job_paths.h"
#include "common/transfer/pieces.h"
#include "coordinator/queue/demand.h"
#include "coordinator/service/await_answer.h"
#include "coordinator/service/check_contents.h"
#include "coordinator/service/delete_job.h"
#include "paceline/v1/service.grpc.pb.h"

namespace paceline {
namespace {

constexpr uint32_t kDefaultPage = 100;
constexpr uint32_t kMaxPage = 1000;
// Of a result.json that is shown.
constexpr int64_t kMaxResultBytes = 4 << 20;

absl::Status NoJob(absl::string_view id) {
  return absl::NotFoundError(
      absl::StrCat("there is no job \"", PeerText(id), "\""));
}

absl::StatusOr<const v1::JobRecord*> FindJob(const JobQueue& queue,
                                             absl::string_view id) {
  const v1::JobRecord* const record = queue.FindJob(id);
  if (record == nullptr) return NoJob(id);
  return record;
}

// PermissionDenied if it is somebody else's job, and the person is no admin.
absl::Status CheckOwner(const JobQueue& queue, absl::string_view id,
                        const Person& person) {
  const v1::JobRecord* const record = queue.FindJob(id);
  if (person.is_admin || record == nullptr ||
      record->submission().user() == person.user) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "job \"", PeerText(id), "\" is of ", record->submission().user(),
      "; for jobs of others this needs the role admin, and the token of ",
      person.user, " has submit"));
}

// Whether nothing more will be written to the task's log of this start.
bool IsOver(const v1::JobRecord& record, uint32_t generation, TaskId task) {
  if (generation < record.generation() || HasEnded(record.state())) return true;
  if (generation > record.generation()) return false;
  return std::any_of(
      record.placements().begin(), record.placements().end(),
      [&](const v1::Placement& placement) {
        return placement.state() == v1::TASK_STATE_OVER &&
               placement.task().type() == TaskToProto(task).type() &&
               static_cast<int>(placement.task().index()) == task.index;
      });
}

// Whether the job has such a task. The leader is one.
bool HasTask(const v1::Submission& submission, TaskId task) {
  if (task == kLeaderTask) return true;
  return std::any_of(
      submission.groups().begin(), submission.groups().end(),
      [type = TaskToProto(task).type(), &task](const v1::TaskGroup& group) {
        return group.type() == type &&
               task.index < static_cast<int>(group.count());
      });
}

v1::Resources ToProto(const Resources& resources) {
  v1::Resources message;
  message.set_millicores(static_cast<uint64_t>(resources.millicores));
  message.set_memory_bytes(static_cast<uint64_t>(resources.memory_bytes));
  message.set_gpus(static_cast<uint64_t>(resources.gpus));
  return message;
}

// The number of the last job of the page before; jobs of lower numbers follow.
absl::StatusOr<uint64_t> PageStart(const std::string& token) {
  uint64_t number = UINT64_MAX;
  if (token.empty() || absl::SimpleAtoi(token, &number)) return number;
  return UnexpectedValue("page_token", token, "that of an earlier answer");
}

}  // namespace

JobService::JobService(std::string version, SharedQueue& queue,
                       FileStore& files, LogStore& logs,
                       ProgressBoard& progress)
    : RpcService(v1::JobService::service_full_name()),
      version_(std::move(version)),
      queue_(queue),
      files_(files),
      logs_(logs),
      progress_(progress) {
  AddJobs();
  AddWaits();
  AddMembers();
}

void JobService::AddJobs() {
  AddMessages<v1::SubmitJobRequest, v1::SubmitJobResponse>(
      "SubmitJob", limits::kMaxControlBytes,
      [this](const auto& request, auto& response, const Done& done,
             const Person& person) { done(Submit(request, person, response)); },
      Access::kPeople);
  AddMessages<v1::ListJobsRequest, v1::ListJobsResponse>(
      "ListJobs", limits::kMaxControlBytes,
      [this](const auto& request, auto& response, const Done& done) {
        done(List(request, response));
      },
      Access::kPeople);
  AddMessages<v1::StopJobRequest, v1::StopJobResponse>(
      "StopJob", limits::kMaxControlBytes,
      [this](const auto& request, auto& /*response*/, const Done& done,
             const Person& person) {
        done(queue_.Handle([&](SharedQueue::Books books) -> absl::Status {
          RETURN_IF_ERROR(CheckOwner(books.queue, request.id(), person));
          return books.queue.StopJob(request.id(), books.now);
        }));
      },
      Access::kPeople);
  AddMessages<v1::DeleteJobRequest, v1::DeleteJobResponse>(
      "DeleteJob", limits::kMaxControlBytes,
      [this](const auto& request, auto& /*response*/, const Done& done,
             const Person& person) { done(Delete(request.id(), person)); },
      Access::kPeople);
}

void JobService::AddWaits() {
  AddMessages<v1::GetJobRequest, v1::GetJobResponse>(
      "GetJob", limits::kMaxControlBytes,
      [this](const v1::GetJobRequest& request, v1::GetJobResponse& response,
             Done done) {
        AwaitAnswer(queue_, NewsOfJob(request.id()), /*is_news=*/false,
                    response, done,
                    [this, &request](SharedQueue::Books& books, bool is_last) {
                      return Get(books, request, is_last);
                    });
      },
      Access::kPeople);
  AddMessages<v1::ReadLogRequest, v1::ReadLogResponse>(
      "ReadLog", limits::kMaxControlBytes,
      [this](const v1::ReadLogRequest& request, v1::ReadLogResponse& response,
             Done done) {
        AwaitAnswer(queue_, NewsOfLogs(request.id()), /*is_news=*/false,
                    response, done,
                    [this, &request](SharedQueue::Books& books, bool is_last) {
                      return Read(books, request, is_last);
                    });
      },
      Access::kPeople);
}

void JobService::AddMembers() {
  AddMessages<v1::ListMembersRequest, v1::ListMembersResponse>(
      "ListMembers", limits::kMaxControlBytes,
      [this](const auto& /*request*/, auto& response, const Done& done) {
        done(queue_.Handle([&](SharedQueue::Books books) {
          response = Members(books.queue);
          return absl::OkStatus();
        }));
      },
      Access::kPeople);
  AddMessages<v1::DrainMemberRequest, v1::DrainMemberResponse>(
      "DrainMember", limits::kMaxControlBytes,
      [this](const auto& request, auto& /*response*/, const Done& done) {
        done(queue_.Handle([&](SharedQueue::Books books) {
          return books.queue.DrainDaemon(request.name(), request.is_drained());
        }));
      },
      Access::kPeople);
}

absl::Status JobService::Submit(const v1::SubmitJobRequest& request,
                                const Person& person,
                                v1::SubmitJobResponse& response) {
  v1::Submission submission = request.submission();
  submission.set_user(person.name());
  RETURN_IF_ERROR(CheckFileCount("submission.files", submission.files_size()));
  RETURN_IF_ERROR(CheckJobFiles("submission.files", submission.files()));
  RETURN_IF_ERROR(CheckContents(files_, submission.files()));
  return queue_.Handle([&](SharedQueue::Books books) -> absl::Status {
    ASSIGN_OR_RETURN(std::string id, books.queue.Submit(submission, books.now));
    response.set_id(std::move(id));
    return absl::OkStatus();
  });
}

absl::Status JobService::List(const v1::ListJobsRequest& request,
                              v1::ListJobsResponse& response) {
  ASSIGN_OR_RETURN(const uint64_t before, PageStart(request.page_token()));
  const uint32_t size = std::min(
      request.page_size() == 0 ? kDefaultPage : request.page_size(), kMaxPage);
  return queue_.Handle([&](SharedQueue::Books books) {
    const std::vector<const v1::JobRecord*> jobs = books.queue.Jobs();
    auto job = std::find_if(
        jobs.rbegin(), jobs.rend(),
        [&](const v1::JobRecord* each) { return each->number() < before; });
    for (; job != jobs.rend(); ++job) {
      if (response.jobs_size() == static_cast<int>(size)) {
        response.set_next_page_token(absl::StrCat(
            response.jobs(response.jobs_size() - 1).record().number()));
        break;
      }
      v1::JobView& view = *response.add_jobs();
      *view.mutable_record() = **job;
      view.mutable_record()->clear_placements();
      view.mutable_record()->mutable_submission()->clear_files();
    }
    return absl::OkStatus();
  });
}

absl::Status JobService::Delete(const std::string& id, const Person& person) {
  return DeleteJob(
      queue_, logs_, id, absl::StrCat("by ", person.name()),
      [&](const JobQueue& queue) { return CheckOwner(queue, id, person); });
}

absl::StatusOr<std::optional<v1::GetJobResponse>> JobService::Get(
    SharedQueue::Books& books, const v1::GetJobRequest& request,
    bool is_last_try) const {
  ASSIGN_OR_RETURN(const v1::JobRecord* const record,
                   FindJob(books.queue, request.id()));
  if (request.unlike() == record->state() && !is_last_try) return std::nullopt;
  v1::GetJobResponse response;
  ASSIGN_OR_RETURN(*response.mutable_job(), View(books, *record));
  return response;
}

absl::StatusOr<v1::JobView> JobService::View(
    SharedQueue::Books& books, const v1::JobRecord& record) const {
  v1::JobView view;
  *view.mutable_record() = record;
  view.set_why_queued(books.queue.WhyQueued(record.id(), books.now));
  ASSIGN_OR_RETURN(const std::vector<v1::JobFile> outputs,
                   books.store.Outputs(record.id()));
  for (const v1::JobFile& output : outputs) {
    *view.add_outputs() = output;
    if (output.path() != absl::StrCat(kOutputFolder, "/result.json")) continue;
    ASSIGN_OR_RETURN(*view.mutable_result_json(),
                     files_.Read(output.sha256(), 0, kMaxResultBytes));
  }
  return view;
}

absl::StatusOr<std::optional<v1::ReadLogResponse>> JobService::Read(
    const SharedQueue::Books& books, const v1::ReadLogRequest& request,
    bool is_last_try) const {
  ASSIGN_OR_RETURN(const v1::JobRecord* const record,
                   FindJob(books.queue, request.id()));
  ASSIGN_OR_RETURN(const TaskId task, TaskFromProto(request.task()));
  const uint32_t generation =
      request.generation() == 0 ? record->generation() : request.generation();
  // A job that was never started has no log.
  LogPiece piece;
  if (generation > 0) {
    absl::StatusOr<LogPiece> read = logs_.Read(
        request.id(), generation, task, request.offset(), kMaxLogPieceBytes);
    // A task may not have written anything yet.
    if (read.ok()) {
      piece = *std::move(read);
    } else if (!absl::IsNotFound(read.status()) ||
               !HasTask(record->submission(), task)) {
      return read.status();
    }
  }
  const bool is_last = piece.text.empty() && IsOver(*record, generation, task);
  // After the text, of whose epochs it is to tell.
  std::optional<ProgressBoard::Entry> progress;
  if (!is_last && task == kLeaderTask) {
    progress = NewProgress(books, request, generation);
  }
  const bool is_news = !piece.text.empty() || is_last || progress.has_value();
  if (!is_news && request.should_wait() && !is_last_try) return std::nullopt;
  v1::ReadLogResponse response;
  if (progress.has_value()) {
    *response.mutable_progress() = std::move(progress->progress);
    response.set_progress_number(progress->number);
  }
  response.set_generation(generation);
  response.set_is_last(is_last);
  response.set_next_offset(static_cast<uint64_t>(piece.next_offset));
  response.set_text(std::move(piece.text));
  return response;
}

std::optional<ProgressBoard::Entry> JobService::NewProgress(
    const SharedQueue::Books& books, const v1::ReadLogRequest& request,
    uint32_t generation) const {
  if (!request.has_progress_number()) return std::nullopt;
  const auto is_open = OpenJobsOf(books.queue);
  if (is_open(request.id())) {
    progress_.Follow(request.id(), books.now, is_open);
  }
  std::optional<ProgressBoard::Entry> entry =
      progress_.Find(request.id(), generation);
  if (entry.has_value() && entry->number == request.progress_number()) {
    return std::nullopt;
  }
  return entry;
}

v1::ListMembersResponse JobService::Members(const JobQueue& queue) const {
  std::map<uint64_t, std::string> ids;
  for (const v1::JobRecord* job : queue.Jobs()) ids[job->number()] = job->id();
  v1::ListMembersResponse response;
  for (const auto& [name, daemon] : queue.daemons()) {
    v1::MemberView& view = *response.add_members();
    v1::DaemonRecord& record = *view.mutable_record();
    record.set_name(name);
    record.set_incarnation(daemon.incarnation);
    record.set_type(daemon.type == TaskType::kPs ? v1::TASK_TYPE_PS
                                                 : v1::TASK_TYPE_WORKER);
    record.set_version(daemon.version);
    *record.mutable_total() = ToProto(daemon.total);
    record.mutable_labels()->insert(daemon.labels.begin(), daemon.labels.end());
    record.set_is_drained(daemon.is_drained);
    record.set_last_heard_micros(absl::ToUnixMicros(daemon.last_heard));
    *view.mutable_used() = ToProto(daemon.used);
    view.set_is_lost(daemon.is_lost);
    view.set_is_leaving(daemon.is_leaving);
    view.set_is_open(!daemon.is_silent && !daemon.is_leaving &&
                     !daemon.is_drained && daemon.sequence > 0 &&
                     daemon.version == version_);
    std::set<uint64_t> jobs;
    for (const auto& [number, task] : daemon.tasks) jobs.insert(number);
    for (const uint64_t number : jobs) view.add_jobs(ids.at(number));
  }
  return response;
}

}  // namespace paceline
