// What people ask of the queue.
#include "coordinator/queue/job_queue.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "coordinator/queue/fit.h"
#include "coordinator/queue/queue_requests.h"
#include "coordinator/queue/queue_state.h"
#include "google/protobuf/util/message_differencer.h"

namespace paceline {
namespace {

absl::Status NoSuch(absl::string_view what, absl::string_view name) {
  return absl::NotFoundError(
      absl::StrCat("there is no ", what, " \"", PeerText(name), "\""));
}

v1::DaemonRecord RecordOf(const Daemon& daemon) {
  v1::DaemonRecord record;
  record.set_name(daemon.name);
  record.set_incarnation(daemon.incarnation);
  record.set_home(daemon.home);
  record.set_type(daemon.type == TaskType::kPs ? v1::TASK_TYPE_PS
                                               : v1::TASK_TYPE_WORKER);
  record.set_version(daemon.version);
  record.mutable_total()->set_millicores(daemon.total.millicores);
  record.mutable_total()->set_memory_bytes(daemon.total.memory_bytes);
  record.mutable_total()->set_gpus(daemon.total.gpus);
  record.mutable_labels()->insert(daemon.labels.begin(), daemon.labels.end());
  record.set_is_drained(daemon.is_drained);
  record.set_is_leaving(daemon.is_leaving);
  record.set_last_heard_micros(absl::ToUnixMicros(daemon.last_heard));
  return record;
}

}  // namespace

JobQueue::JobQueue() = default;
JobQueue::~JobQueue() = default;

JobQueue::State::Job* JobQueue::State::Find(absl::string_view id) {
  const auto found = number_of_id.find(std::string(id));
  return found == number_of_id.end() ? nullptr : &jobs.at(found->second);
}

JobQueue::State::Job& JobQueue::State::Add(v1::JobRecord record) {
  const uint64_t number = record.number();
  const v1::Submission& submission = record.submission();
  last_number = std::max(last_number, number);
  number_of_id[record.id()] = number;
  if (!submission.idempotency_key().empty()) {
    number_of_key[{submission.user(), submission.idempotency_key()}] = number;
  }
  Job& job = jobs[number];
  job.demand = DemandOf(submission);
  job.shape = job.demand.Shape();
  job.record = std::move(record);
  if (job.record.state() == v1::JOB_STATE_QUEUED) queued.insert(Turn(job));
  should_schedule = true;
  return job;
}

absl::StatusOr<std::string> JobQueue::Submit(const v1::Submission& submission,
                                             absl::Time now) {
  RETURN_IF_ERROR(CheckSubmission(submission));
  State& state = *state_;
  const auto known = state.number_of_key.find(
      {submission.user(), submission.idempotency_key()});
  if (known != state.number_of_key.end()) {
    const v1::JobRecord& earlier = state.jobs.at(known->second).record;
    if (google::protobuf::util::MessageDifferencer::Equals(earlier.submission(),
                                                           submission)) {
      return earlier.id();
    }
    return absl::AlreadyExistsError(absl::StrCat(
        "idempotency_key: \"", submission.idempotency_key(), "\" is that of ",
        earlier.id(), ", which is another job; expected a new key"));
  }
  if (state.queued.size() >= static_cast<size_t>(state.options.max_queued)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the queue is full: ", state.queued.size(), " jobs wait"));
  }
  const Demand demand = DemandOf(submission);
  const Quota* const quota = state.QuotaOf(submission.user());
  if (quota != nullptr && !quota->Allows(1, demand.Total())) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the job needs ", demand.Total().ToString(), "; the quota of ",
        submission.user(), " is ", quota->ToString()));
  }
  const std::string missing = WhatIsMissing(demand, state.AllRooms());
  if (!missing.empty() && state.HasDaemonsOfEachType(demand)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the job would not fit if no other ran: ", missing));
  }

  v1::JobRecord record;
  record.set_number(state.last_number + 1);
  state.has_new_number = true;
  record.set_id(absl::StrCat(submission.name(), "-", record.number()));
  *record.mutable_submission() = submission;
  record.set_state(v1::JOB_STATE_QUEUED);
  record.set_submitted_micros(absl::ToUnixMicros(now));
  const State::Job& job = state.Add(std::move(record));
  state.Changed(job);
  return job.record.id();
}

absl::Status JobQueue::StopJob(absl::string_view id, absl::Time now) {
  State::Job* job = state_->Find(id);
  if (job == nullptr) return NoSuch("job", id);
  state_->RequestStop(*job, v1::STOP_REASON_USER, now);
  return absl::OkStatus();
}

absl::Status JobQueue::DeleteJob(absl::string_view id) {
  State& state = *state_;
  const State::Job* job = state.Find(id);
  if (job == nullptr) return NoSuch("job", id);
  if (!job->HasEnded()) {
    return absl::FailedPreconditionError(
        absl::StrCat(id, " has not ended; stop it first"));
  }
  const v1::JobRecord record = job->record;
  const v1::Submission& submission = record.submission();
  state.number_of_key.erase({submission.user(), submission.idempotency_key()});
  state.number_of_id.erase(record.id());
  state.changed_jobs.erase(record.number());
  state.jobs.erase(record.number());
  state.removals.emplace_back(RemoveJob{record.id()});
  return absl::OkStatus();
}

absl::Status JobQueue::DrainDaemon(absl::string_view name, bool is_drained) {
  const auto found = state_->daemons.find(std::string(name));
  if (found == state_->daemons.end()) return NoSuch("daemon", name);
  found->second.is_drained = is_drained;
  state_->ChangedDaemon(found->second);
  state_->should_schedule = true;
  return absl::OkStatus();
}

std::vector<QueueAction> JobQueue::TakeActions(absl::Time now) {
  State& state = *state_;
  state.StartJobs(now);
  std::vector<QueueAction> actions = std::exchange(state.removals, {});
  if (std::exchange(state.has_new_number, false)) {
    actions.emplace_back(StoreLastNumber{state.last_number});
  }
  for (const std::string& name : std::exchange(state.changed_daemons, {})) {
    actions.emplace_back(StoreDaemon{RecordOf(state.daemons.at(name))});
  }
  for (const uint64_t number : std::exchange(state.changed_jobs, {})) {
    actions.emplace_back(StoreJob{state.jobs.at(number).record});
  }
  for (const std::string& name : std::exchange(state.changed_orders, {})) {
    actions.emplace_back(OrdersChanged{name});
  }
  return actions;
}

const v1::JobRecord* JobQueue::FindJob(absl::string_view id) const {
  const State::Job* job = state_->Find(id);
  return job == nullptr ? nullptr : &job->record;
}

std::vector<const v1::JobRecord*> JobQueue::Jobs() const {
  std::vector<const v1::JobRecord*> records;
  for (const auto& [number, job] : state_->jobs) records.push_back(&job.record);
  return records;
}

const DaemonTable& JobQueue::daemons() const { return state_->daemons; }

}  // namespace paceline
