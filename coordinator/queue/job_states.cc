// How jobs go from state to state. Each function leaves the record, the queue,
// the daemons and the users' usage in step with each other.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/exit_code.h"
#include "common/base/peer_error_text.h"
#include "common/cluster/task_proto.h"
#include "coordinator/queue/queue_state.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Between the time at which tasks are to be killed and the daemon's word that
// they are over.
constexpr absl::Duration kKillTime = absl::Minutes(1);

bool IsOver(const v1::Placement& placement) {
  return placement.state() == v1::TASK_STATE_OVER;
}

std::string TimedOut(const v1::Submission& submission) {
  return absl::StrCat(
      "took longer than its timeout of ",
      absl::FormatDuration(absl::Microseconds(submission.timeout_micros())));
}

// "worker-1 on node-7 ended with exit code 1".
std::string WhyOver(const v1::Placement& placement) {
  const absl::StatusOr<TaskId> task = TaskFromProto(placement.task());
  CHECK(task.ok()) << task.status();
  const std::string who =
      absl::StrCat(*task == kLeaderTask ? "the leader" : task->ToString(),
                   " on ", placement.daemon());
  if (!placement.error().empty()) {
    return absl::StrCat(who, ": ", placement.error());
  }
  if (placement.exit_code() == kSuccess) {
    return absl::StrCat(who, ": outputs are lost: ", placement.lost_outputs());
  }
  return absl::StrCat(who, " ended with exit code ", placement.exit_code());
}

}  // namespace

bool JobQueue::State::Job::HoldsTasks() const {
  switch (record.state()) {
    case v1::JOB_STATE_STARTING:
    case v1::JOB_STATE_RUNNING:
    case v1::JOB_STATE_ENDING:
      return true;
    default:
      return false;
  }
}

bool HasEnded(v1::JobState state) {
  return state == v1::JOB_STATE_SUCCEEDED || state == v1::JOB_STATE_FAILED ||
         state == v1::JOB_STATE_STOPPED;
}

bool JobQueue::State::Job::HasEnded() const {
  return paceline::HasEnded(record.state());
}

v1::Placement& JobQueue::State::Job::PlacementOf(TaskId task) {
  if (task == kLeaderTask) return *record.mutable_placements(0);
  int first = 1;
  for (const GroupDemand& group : demand.groups) {
    if (group.type == task.type) {
      return *record.mutable_placements(first + task.index);
    }
    first += group.count;
  }
  LOG(FATAL) << record.id() << " has no " << task.ToString();
}

void JobQueue::State::SetState(Job& job, v1::JobState state) {
  const bool held = job.HoldsTasks();
  if (job.record.state() == v1::JOB_STATE_QUEUED) queued.erase(Turn(job));
  job.record.set_state(state);
  if (state == v1::JOB_STATE_QUEUED) queued.insert(Turn(job));
  if (job.HasEnded()) begun.erase(job.number());
  if (reservation && reservation->job == job.number() &&
      state != v1::JOB_STATE_QUEUED) {
    reservation.reset();
  }
  if (held != job.HoldsTasks()) {
    const std::string& user = job.record.submission().user();
    Usage& used = usage[user];
    used.jobs += held ? -1 : 1;
    if (held) {
      used.resources -= job.demand.Total();
    } else {
      used.resources += job.demand.Total();
    }
    if (used.jobs == 0) usage.erase(user);
  }
  should_schedule = true;
  Changed(job);
}

void JobQueue::State::Start(Job& job, const Assignment& assignment,
                            absl::Time now) {
  v1::JobRecord& record = job.record;
  SetState(job, v1::JOB_STATE_STARTING);
  begun.insert(job.number());
  job.start = ++last_start;
  record.set_generation(record.generation() + 1);
  if (record.started_micros() == 0) {
    record.set_started_micros(absl::ToUnixMicros(now));
  }
  record.set_last_started_micros(absl::ToUnixMicros(now));
  record.set_not_before_micros(0);
  record.set_kill_micros(absl::ToUnixMicros(now + options.start_timeout));
  record.clear_error();
  record.clear_placements();
  for (const auto& [task, name] : assignment) {
    Daemon& daemon = daemons.at(name);
    v1::Placement& placement = *record.add_placements();
    *placement.mutable_task() = TaskToProto(task);
    placement.set_daemon(name);
    placement.set_incarnation(daemon.incarnation);
    placement.set_state(v1::TASK_STATE_ORDERED);
    daemon.tasks.insert({job.number(), task});
    daemon.used += job.demand.Of(task);
  }
  // The others are ordered once the leader's address is known.
  changed_orders.insert(job.leader().daemon());
}

void JobQueue::State::TaskRuns(Job& job, v1::Placement& placement,
                               absl::string_view address, absl::Time now) {
  const bool is_new = placement.state() != v1::TASK_STATE_RUNNING;
  const bool tells_address = placement.address().empty() && !address.empty();
  if (!is_new && !tells_address) return;
  placement.set_state(v1::TASK_STATE_RUNNING);
  if (tells_address) placement.set_address(std::string(address));
  Changed(job);
  if (tells_address && &placement == &job.leader()) OrdersOfAllChanged(job);

  const auto& placements = job.record.placements();
  if (job.record.state() == v1::JOB_STATE_STARTING &&
      std::none_of(placements.begin(), placements.end(),
                   [](const v1::Placement& each) {
                     return each.state() == v1::TASK_STATE_ORDERED;
                   })) {
    SetState(job, v1::JOB_STATE_RUNNING);
    job.running_since = now;
    const bool has_lost_task = !job.record.error().empty();
    if (!has_lost_task &&
        job.record.stop_reason() == v1::STOP_REASON_UNSPECIFIED) {
      job.record.set_kill_micros(0);
    }
  }
}

bool JobQueue::State::HasDeparted(const v1::Placement& placement) const {
  return daemons.at(placement.daemon()).is_leaving &&
         (placement.exit_code() == kRestart ||
          placement.exit_code() == kTerminated);
}

bool JobQueue::State::IsGathering(const Job& job, absl::Time now) const {
  return job.record.state() == v1::JOB_STATE_STARTING ||
         (job.record.state() == v1::JOB_STATE_RUNNING &&
          now - job.running_since < options.join_timeout);
}

void JobQueue::State::TaskOver(Job& job, v1::Placement& placement,
                               int exit_code, absl::string_view error,
                               absl::Time now, const v1::Usage* usage) {
  CHECK(!IsOver(placement));
  const absl::StatusOr<TaskId> task = TaskFromProto(placement.task());
  CHECK(task.ok()) << task.status();
  placement.set_state(v1::TASK_STATE_OVER);
  placement.set_exit_code(exit_code);
  placement.set_error(PeerErrorText(error));
  if (usage != nullptr) *placement.mutable_usage() = *usage;
  Daemon& daemon = daemons.at(placement.daemon());
  daemon.tasks.erase({job.number(), *task});
  daemon.withdrawn.erase({job.number(), *task});
  daemon.used -= job.demand.Of(*task);
  should_schedule = true;
  Changed(job);
  changed_orders.insert(daemon.name);

  v1::JobRecord& record = job.record;
  if (record.state() == v1::JOB_STATE_ENDING) {
    if (*task == kLeaderTask) HearLeader(job, placement);
    FinishIfEmpty(job, now);
  } else if (*task == kLeaderTask) {
    LeaderOver(job, placement, now);
  } else if (IsGathering(job, now) && HasDeparted(placement) &&
             record.stop_reason() == v1::STOP_REASON_UNSPECIFIED) {
    Requeue(job, WhyOver(placement), now);
  } else if (record.state() == v1::JOB_STATE_STARTING &&
             exit_code != kSuccess && record.error().empty()) {
    // The leader may know more: it has some time to end by itself.
    record.set_kill_micros(
        std::min(record.kill_micros(),
                 absl::ToUnixMicros(now + options.start_failure_timeout)));
    record.set_error(WhyOver(placement));
  }
}

void JobQueue::State::HearLeader(Job& job, const v1::Placement& leader) {
  v1::JobRecord& record = job.record;
  if (record.state_after_ending() != v1::JOB_STATE_QUEUED) return;
  if (leader.exit_code() == kSuccess && leader.lost_outputs().empty()) {
    record.set_state_after_ending(v1::JOB_STATE_SUCCEEDED);
    record.clear_error();
  } else if (leader.exit_code() == kBadInput) {
    record.set_state_after_ending(v1::JOB_STATE_FAILED);
    record.set_error(WhyOver(leader));
  }
}

void JobQueue::State::LeaderOver(Job& job, const v1::Placement& leader,
                                 absl::Time now) {
  const int exit_code = static_cast<int>(leader.exit_code());
  // Its results are what a job is for. If they are lost, it may make them
  // again.
  if (exit_code == kSuccess && leader.lost_outputs().empty()) {
    BeginEnding(job, v1::JOB_STATE_SUCCEEDED, "", now);
  } else if (job.record.stop_reason() == v1::STOP_REASON_USER) {
    BeginEnding(job, v1::JOB_STATE_STOPPED, "", now);
  } else if (job.record.stop_reason() == v1::STOP_REASON_TIMEOUT) {
    BeginEnding(job, v1::JOB_STATE_FAILED, TimedOut(job.record.submission()),
                now);
  } else if (exit_code == kBadInput) {
    BeginEnding(job, v1::JOB_STATE_FAILED, WhyOver(leader), now);
  } else if (exit_code == kStopped || exit_code == kRestart ||
             HasDeparted(leader)) {
    // The task that left may be on another daemon, whose word that it leaves
    // may come later than this: so nobody asks for it here.
    Requeue(job, WhyOver(leader), now);
  } else {
    Fail(job, WhyOver(leader), now);
  }
}

bool JobQueue::State::RanLong(const Job& job, absl::Time now) const {
  return now - absl::FromUnixMicros(job.record.last_started_micros()) >=
         options.long_start;
}

void JobQueue::State::Requeue(Job& job, absl::string_view why, absl::Time now) {
  v1::JobRecord& record = job.record;
  record.set_departures(RanLong(job, now) ? 0 : record.departures() + 1);
  // After so many, it is the job that causes them, and not its machines.
  if (record.departures() >= options.max_departures) {
    Fail(job,
         absl::StrCat(why, "; ", record.departures(),
                      " starts in a row were asked to leave within ",
                      absl::FormatDuration(options.long_start)),
         now);
    return;
  }
  record.set_not_before_micros(absl::ToUnixMicros(now + options.min_backoff));
  BeginEnding(job, v1::JOB_STATE_QUEUED, why, now);
}

void JobQueue::State::Fail(Job& job, absl::string_view error, absl::Time now) {
  v1::JobRecord& record = job.record;
  if (RanLong(job, now)) record.set_departures(0);
  record.set_failures(record.failures() + 1);
  const bool is_final = record.failures() > record.submission().retries();
  if (!is_final) {
    absl::Duration backoff = options.min_backoff;
    for (uint32_t i = 1; i < record.failures(); ++i) {
      if (backoff >= options.max_backoff) break;
      backoff *= 2;
    }
    record.set_not_before_micros(
        absl::ToUnixMicros(now + std::min(backoff, options.max_backoff)));
  }
  BeginEnding(job, is_final ? v1::JOB_STATE_FAILED : v1::JOB_STATE_QUEUED,
              error, now);
}

void JobQueue::State::BeginEnding(Job& job, v1::JobState next,
                                  absl::string_view error, absl::Time now) {
  job.record.set_state_after_ending(next);
  job.record.set_error(std::string(error));
  job.record.set_kill_micros(0);
  SetState(job, v1::JOB_STATE_ENDING);
  OrdersOfAllChanged(job);
  FinishIfEmpty(job, now);
}

void JobQueue::State::FinishIfEmpty(Job& job, absl::Time now) {
  v1::JobRecord& record = job.record;
  if (!std::all_of(record.placements().begin(), record.placements().end(),
                   IsOver)) {
    return;
  }
  const v1::JobState next = record.state_after_ending();
  record.set_state_after_ending(v1::JOB_STATE_UNSPECIFIED);
  SetState(job, next);
  if (job.HasEnded()) record.set_ended_micros(absl::ToUnixMicros(now));
}

void JobQueue::State::EndQueued(Job& job, v1::JobState state,
                                absl::string_view error, absl::Time now) {
  CHECK_EQ(job.record.state(), v1::JOB_STATE_QUEUED);
  job.record.set_error(std::string(error));
  job.record.set_ended_micros(absl::ToUnixMicros(now));
  SetState(job, state);
}

void JobQueue::State::RequestStop(Job& job, v1::StopReason reason,
                                  absl::Time now) {
  v1::JobRecord& record = job.record;
  switch (record.state()) {
    case v1::JOB_STATE_QUEUED:
      EndQueued(job, v1::JOB_STATE_STOPPED, "", now);
      return;
    case v1::JOB_STATE_ENDING:
      if (record.state_after_ending() == v1::JOB_STATE_QUEUED) {
        record.set_state_after_ending(v1::JOB_STATE_STOPPED);
        Changed(job);
      }
      return;
    case v1::JOB_STATE_STARTING:
    case v1::JOB_STATE_RUNNING:
      // A person's wish counts more than a timeout, and a first one is not
      // put off by a second.
      if (record.stop_reason() == v1::STOP_REASON_USER) return;
      if (record.stop_reason() == v1::STOP_REASON_UNSPECIFIED) {
        record.set_kill_micros(absl::ToUnixMicros(now + options.stop_timeout));
      }
      record.set_stop_reason(reason);
      changed_orders.insert(job.leader().daemon());
      Changed(job);
      return;
    default:
      return;
  }
}

// If the daemon comes back, it learns to end them, and gets no others before it
// has. A job that starts again has to know that they are over.
void JobQueue::State::GiveUpSilentTasks(Job& job, absl::Time now) {
  v1::JobRecord& record = job.record;
  if (record.state_after_ending() == v1::JOB_STATE_QUEUED) return;
  for (v1::Placement& placement : *record.mutable_placements()) {
    if (!IsOver(placement) && daemons.at(placement.daemon()).is_silent) {
      TaskOver(job, placement, kUnseenExitCode, "its daemon is silent", now);
    }
  }
}

void JobQueue::State::CheckTimes(Job& job, absl::Time now) {
  v1::JobRecord& record = job.record;
  const int64_t micros = absl::ToUnixMicros(now);
  const uint64_t timeout = record.submission().timeout_micros();
  const bool is_timed_out =
      timeout != 0 &&
      micros >= record.started_micros() + static_cast<int64_t>(timeout);
  if (is_timed_out && record.state() == v1::JOB_STATE_QUEUED) {
    EndQueued(job, v1::JOB_STATE_FAILED, TimedOut(record.submission()), now);
    return;
  }
  if (record.state() == v1::JOB_STATE_ENDING) GiveUpSilentTasks(job, now);
  if (record.state() != v1::JOB_STATE_STARTING &&
      record.state() != v1::JOB_STATE_RUNNING) {
    return;
  }
  if (is_timed_out && record.stop_reason() == v1::STOP_REASON_UNSPECIFIED) {
    RequestStop(job, v1::STOP_REASON_TIMEOUT, now);
  }
  // A leader of whom nobody hears cannot take a last checkpoint.
  const bool is_deaf = record.stop_reason() != v1::STOP_REASON_UNSPECIFIED &&
                       daemons.at(job.leader().daemon()).is_silent;
  if (!is_deaf && (record.kill_micros() == 0 || micros < record.kill_micros()))
    return;
  if (record.stop_reason() == v1::STOP_REASON_USER) {
    BeginEnding(job, v1::JOB_STATE_STOPPED, "", now);
  } else if (record.stop_reason() == v1::STOP_REASON_TIMEOUT) {
    BeginEnding(job, v1::JOB_STATE_FAILED, TimedOut(record.submission()), now);
  } else {
    Fail(job,
         record.error().empty()
             ? absl::StrCat("not all of its tasks were started within ",
                            absl::FormatDuration(options.start_timeout))
             : record.error(),
         now);
  }
}

absl::Time JobQueue::State::EndOf(const Job& job, absl::Time now) const {
  const v1::JobRecord& record = job.record;
  if (record.submission().timeout_micros() == 0) return absl::InfiniteFuture();
  const absl::Time begin = record.started_micros() == 0
                               ? now
                               : absl::FromUnixMicros(record.started_micros());
  return begin + absl::Microseconds(record.submission().timeout_micros()) +
         options.stop_timeout + kKillTime;
}

void JobQueue::State::OrdersOfAllChanged(const Job& job) {
  for (const v1::Placement& placement : job.record.placements()) {
    if (!IsOver(placement)) changed_orders.insert(placement.daemon());
  }
}

}  // namespace paceline
