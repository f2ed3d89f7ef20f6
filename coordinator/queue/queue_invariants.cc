// The invariants of JobQueue, for tests.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/cluster/task_proto.h"
#include "coordinator/queue/job_queue.h"
#include "coordinator/queue/queue_state.h"
#include "coordinator/queue/reservation.h"

namespace paceline {
namespace {

using State = JobQueue::State;

absl::Status Broken(absl::string_view who, absl::string_view what) {
  return absl::InternalError(absl::StrCat(who, ": ", what));
}

// Tasks that are not over, by daemon.
using HeldTasks = std::map<std::string, std::set<std::pair<uint64_t, TaskId>>>;

absl::Status CheckJob(const State::Job& job, const State& state,
                      HeldTasks& held) {
  const v1::JobRecord& record = job.record;
  bool has_tasks = false;
  for (const v1::Placement& placement : record.placements()) {
    if (placement.state() == v1::TASK_STATE_OVER) continue;
    has_tasks = true;
    const auto daemon = state.daemons.find(placement.daemon());
    if (daemon == state.daemons.end() ||
        daemon->second.incarnation != placement.incarnation()) {
      return Broken(record.id(),
                    absl::StrCat("has a task on ", placement.daemon(),
                                 ", which it did not survive"));
    }
    ASSIGN_OR_RETURN(const TaskId task, TaskFromProto(placement.task()));
    held[placement.daemon()].insert({job.number(), task});
  }
  if (has_tasks && !job.HoldsTasks()) {
    return Broken(record.id(), "has tasks in a state without any");
  }
  if (!has_tasks && job.HoldsTasks()) {
    return Broken(record.id(), "has no tasks in a state that needs some");
  }
  const bool is_queued = record.state() == v1::JOB_STATE_QUEUED;
  const std::pair<int64_t, uint64_t> turn = {
      -int64_t{record.submission().priority()}, job.number()};
  if (state.queued.contains(turn) != is_queued) {
    return Broken(record.id(), "is queued in one place only");
  }
  const bool has_begun = record.generation() != 0 && !job.HasEnded();
  if (state.begun.contains(job.number()) != has_begun) {
    return Broken(record.id(), "has begun in one place only");
  }
  return absl::OkStatus();
}

absl::Status CheckDaemon(const Daemon& daemon, const State& state,
                         const HeldTasks& held) {
  const auto found = held.find(daemon.name);
  const bool is_same = found == held.end() ? daemon.tasks.empty()
                                           : daemon.tasks == found->second;
  if (!is_same) return Broken(daemon.name, "its tasks are not those of jobs");
  Resources used;
  for (const auto& [number, task] : daemon.tasks) {
    used += state.jobs.at(number).demand.Of(task);
  }
  if (used != daemon.used)
    return Broken(daemon.name, "a wrong sum of its tasks");
  if (daemon.is_lost && !(daemon.tasks.empty() && daemon.strays.empty())) {
    return Broken(daemon.name, "is lost, and its tasks are not");
  }
  if (!used.FitsInto(daemon.total)) {
    return Broken(daemon.name, absl::StrCat("has ", daemon.total.ToString(),
                                            ", and gave ", used.ToString()));
  }
  return absl::OkStatus();
}

// Those who outlast the reservation leave its place free.
absl::Status CheckReservation(const State& state) {
  if (!state.reservation) return absl::OkStatus();
  for (const auto& [name, place] : state.reservation->place) {
    const auto daemon = state.daemons.find(name);
    // The next look for jobs that can start drops such a reservation.
    if (daemon == state.daemons.end()) continue;
    // The end of a job that has started does not depend on the time.
    const HolderOf holder_of = [&](uint64_t number) {
      return state.HolderOfJob(number, absl::InfinitePast());
    };
    if (!LeavesPlace(daemon->second, *state.reservation, holder_of)) {
      return Broken(name, "the place that is kept on it was given away");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckUsage(const State& state) {
  std::map<std::string, State::Usage> usage;
  for (const auto& [number, job] : state.jobs) {
    if (!job.HoldsTasks()) continue;
    State::Usage& used = usage[job.record.submission().user()];
    ++used.jobs;
    used.resources += job.demand.Total();
  }
  for (const auto& [user, used] : usage) {
    const auto found = state.usage.find(user);
    if (found == state.usage.end() || found->second.jobs != used.jobs ||
        found->second.resources != used.resources) {
      return Broken(user, "what the user's jobs hold is counted wrongly");
    }
  }
  return usage.size() == state.usage.size()
             ? absl::OkStatus()
             : Broken("usage", "has users without jobs");
}

}  // namespace

absl::Status JobQueue::CheckInvariants() const {
  const State& state = *state_;
  HeldTasks held;
  size_t queued = 0;
  size_t begun = 0;
  for (const auto& [number, job] : state.jobs) {
    RETURN_IF_ERROR(CheckJob(job, state, held));
    queued += job.record.state() == v1::JOB_STATE_QUEUED;
    begun += job.record.generation() != 0 && !job.HasEnded();
  }
  if (queued != state.queued.size() || begun != state.begun.size()) {
    return Broken("the queue", "has jobs that are not there");
  }
  for (const auto& [name, daemon] : state.daemons) {
    RETURN_IF_ERROR(CheckDaemon(daemon, state, held));
  }
  for (const auto& [key, number] : state.number_of_key) {
    const auto job = state.jobs.find(number);
    if (job == state.jobs.end() ||
        job->second.record.submission().idempotency_key() != key.second ||
        job->second.record.submission().user() != key.first) {
      return Broken(key.second, "is the key of another job");
    }
  }
  RETURN_IF_ERROR(CheckUsage(state));
  return CheckReservation(state);
}

}  // namespace paceline
