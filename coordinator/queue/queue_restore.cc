// A queue from the records of an earlier one.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/cluster/task_proto.h"
#include "coordinator/queue/job_queue.h"
#include "coordinator/queue/queue_requests.h"
#include "coordinator/queue/queue_state.h"

namespace paceline {
namespace {

absl::Status Damaged(absl::string_view record, absl::string_view why) {
  return absl::DataLossError(
      absl::StrCat("the record of ", record, " is damaged: ", why));
}

// The tasks of a job in the order of its placements.
std::vector<TaskId> TasksInOrder(const Demand& demand) {
  std::vector<TaskId> tasks = {kLeaderTask};
  for (const GroupDemand& group : demand.groups) {
    for (int i = 0; i < group.count; ++i) tasks.push_back({group.type, i});
  }
  return tasks;
}

absl::Status CheckPlacements(const v1::JobRecord& record) {
  if (record.generation() == 0) {
    return record.placements().empty()
               ? absl::OkStatus()
               : absl::DataLossError("it has tasks and was never started");
  }
  const std::vector<TaskId> tasks = TasksInOrder(DemandOf(record.submission()));
  if (record.placements_size() != static_cast<int>(tasks.size())) {
    return absl::DataLossError(absl::StrCat(
        record.placements_size(), " tasks instead of ", tasks.size()));
  }
  for (int i = 0; i < record.placements_size(); ++i) {
    const v1::Placement& placement = record.placements(i);
    const absl::StatusOr<TaskId> task = TaskFromProto(placement.task());
    if (!task.ok()) return task.status();
    if (*task != tasks[i] || placement.daemon().empty() ||
        placement.incarnation() == 0 ||
        placement.state() == v1::TASK_STATE_UNSPECIFIED ||
        !v1::TaskState_IsValid(placement.state())) {
      return absl::DataLossError(absl::StrCat("task ", i, " is not ",
                                              tasks[i].ToString(),
                                              " with a daemon and a state"));
    }
  }
  return absl::OkStatus();
}

// Whether the tasks of the record are as its state says.
bool FitsState(const v1::JobRecord& record) {
  const auto& tasks = record.placements();
  const bool all_over =
      std::all_of(tasks.begin(), tasks.end(), [](const v1::Placement& task) {
        return task.state() == v1::TASK_STATE_OVER;
      });
  const v1::JobState next = record.state_after_ending();
  switch (record.state()) {
    case v1::JOB_STATE_STARTING:
    case v1::JOB_STATE_RUNNING:
      return next == 0 && record.generation() != 0 &&
             tasks[0].state() != v1::TASK_STATE_OVER;
    case v1::JOB_STATE_ENDING:
      return !all_over &&
             (next == v1::JOB_STATE_QUEUED || next >= v1::JOB_STATE_SUCCEEDED);
    case v1::JOB_STATE_QUEUED:
    case v1::JOB_STATE_SUCCEEDED:
    case v1::JOB_STATE_FAILED:
    case v1::JOB_STATE_STOPPED:
      return next == 0 && all_over;
    default:
      return false;
  }
}

absl::Status CheckRecord(const v1::JobRecord& record) {
  RETURN_IF_ERROR(CheckSubmission(record.submission()));
  if (record.number() == 0 || record.id().empty()) {
    return absl::DataLossError(
        absl::StrCat("number ", record.number(), ", id \"", record.id(), "\""));
  }
  RETURN_IF_ERROR(CheckPlacements(record));
  if (FitsState(record)) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      "its tasks do not fit state ", record.state(), ", then ",
      record.state_after_ending(), ", generation ", record.generation()));
}

Daemon DaemonFrom(const v1::DaemonRecord& record, absl::Time now) {
  Daemon daemon;
  daemon.name = record.name();
  TakeTraits(record, daemon);
  daemon.is_drained = record.is_drained();
  daemon.is_leaving = record.is_leaving();
  // It could not be heard of while no coordinator ran.
  daemon.last_heard = now;
  return daemon;
}

}  // namespace

absl::StatusOr<std::unique_ptr<JobQueue>> JobQueue::Create(
    JobQueueOptions options, const std::vector<v1::JobRecord>& jobs,
    const std::vector<v1::DaemonRecord>& daemons, uint64_t last_number,
    absl::Time now) {
  std::unique_ptr<JobQueue> queue(new JobQueue());
  queue->state_ = std::make_unique<State>();
  State& state = *queue->state_;
  state.options = std::move(options);
  state.last_number = last_number;
  if (!daemons.empty()) state.settles_at = now + state.options.settle_timeout;
  for (const v1::DaemonRecord& record : daemons) {
    if (const absl::Status checked = CheckDaemon(record); !checked.ok()) {
      return Damaged(absl::StrCat("daemon \"", record.name(), "\""),
                     checked.message());
    }
    if (!state.daemons.try_emplace(record.name(), DaemonFrom(record, now))
             .second) {
      return Damaged(absl::StrCat("daemon \"", record.name(), "\""),
                     "it is there twice");
    }
  }
  for (const v1::JobRecord& record : jobs) {
    if (const absl::Status checked = CheckRecord(record); !checked.ok()) {
      return Damaged(record.id(), checked.message());
    }
    if (state.jobs.contains(record.number()) || state.Find(record.id())) {
      return Damaged(record.id(), "its number or id is there twice");
    }
    RETURN_IF_ERROR(state.Restore(state.Add(record)));
  }
  if (const absl::Status whole = queue->CheckInvariants(); !whole.ok()) {
    return absl::DataLossError(
        absl::StrCat("the records contradict each other: ", whole.message()));
  }
  return queue;
}

absl::Status JobQueue::State::Restore(Job& job) {
  if (!job.HasEnded() && job.record.generation() != 0) {
    begun.insert(job.number());
  }
  if (!job.HoldsTasks()) return absl::OkStatus();
  Usage& used = usage[job.record.submission().user()];
  ++used.jobs;
  used.resources += job.demand.Total();
  for (const v1::Placement& placement : job.record.placements()) {
    if (placement.state() == v1::TASK_STATE_OVER) continue;
    const auto daemon = daemons.find(placement.daemon());
    if (daemon == daemons.end() ||
        daemon->second.incarnation != placement.incarnation()) {
      return Damaged(job.record.id(),
                     absl::StrCat("a task is on ", placement.daemon(),
                                  ", in an incarnation that is not stored"));
    }
    ASSIGN_OR_RETURN(const TaskId task, TaskFromProto(placement.task()));
    daemon->second.tasks.insert({job.number(), task});
    daemon->second.used += job.demand.Of(task);
  }
  return absl::OkStatus();
}

}  // namespace paceline
