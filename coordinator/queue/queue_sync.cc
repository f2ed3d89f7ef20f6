// What daemons report, what they should hold, and what their silence means.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/exit_code.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/cluster/task_proto.h"
#include "coordinator/queue/job_queue.h"
#include "coordinator/queue/queue_requests.h"
#include "coordinator/queue/queue_state.h"
#include "coordinator/queue/resources.h"

namespace paceline {
namespace {

using State = JobQueue::State;

// Between two looks at the times of all jobs and daemons.
constexpr absl::Duration kCheckInterval = absl::Seconds(1);

// A task in the queue's books, which is not over.
struct HeldTask {
  State::Job* job;
  v1::Placement* placement;
  // As in Daemon::tasks.
  std::pair<uint64_t, TaskId> key;
};

// Tasks that the books give to the daemon. A copy: they change as tasks end.
std::vector<HeldTask> TasksOf(const Daemon& daemon, State& state) {
  std::vector<HeldTask> held;
  for (const auto& [number, task] : daemon.tasks) {
    State::Job& job = state.jobs.at(number);
    held.push_back({&job, &job.PlacementOf(task), {number, task}});
  }
  return held;
}

void LoseTasks(const Daemon& daemon, int exit_code, absl::string_view why,
               absl::Time now, State& state) {
  for (const HeldTask& held : TasksOf(daemon, state)) {
    state.TaskOver(*held.job, *held.placement, exit_code, why, now);
  }
}

// A task of some start of some job: its id, the generation, and the task.
using TaskKey = std::tuple<absl::string_view, uint32_t, int, uint32_t>;

TaskKey KeyOf(absl::string_view job, uint32_t generation,
              const v1::Task& task) {
  return {job, generation, task.type(), task.index()};
}

// The daemon as it is in the books; a new one if need be.
absl::StatusOr<Daemon*> DaemonOf(const v1::SyncRequest& request, State& state) {
  const auto found = state.daemons.find(request.daemon());
  if (found != state.daemons.end()) return &found->second;
  if (state.daemons.size() >= static_cast<size_t>(state.options.max_daemons)) {
    return absl::ResourceExhaustedError(
        absl::StrCat(request.daemon(), ": there are ", state.daemons.size(),
                     " daemons already, as many as the service may have"));
  }
  Daemon& daemon = state.daemons[request.daemon()];
  daemon.name = request.daemon();
  return &daemon;
}

// Unavailable if the name is that of another daemon, which is there: it may be
// gone soon.
absl::Status CheckHasName(const Daemon& daemon,
                          const v1::SyncRequest& request) {
  if (daemon.incarnation == 0 || daemon.is_silent || daemon.is_leaving ||
      daemon.home == request.home()) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat(
      request.daemon(),
      ": another daemon of this name is there; expected another --name"));
}

// A later incarnation takes the place of the one that the books know. If that
// was asked to leave while the coordinator was away, its tasks have departed;
// only the next daemon in its folder knows.
void BeginIncarnation(const v1::SyncRequest& request, absl::Time now,
                      Daemon& daemon, State& state) {
  const bool has_left =
      request.predecessor_left() && request.home() == daemon.home;
  daemon.is_leaving |= has_left;
  LoseTasks(daemon, has_left ? kRestart : kUnseenExitCode,
            "its daemon was started anew", now, state);
  TakeTraits(request, daemon);
  daemon.sequence = 0;
  daemon.strays.clear();
  daemon.withdrawn.clear();
  state.ChangedDaemon(daemon);
}

// Whether a task that the daemon does not report is over, or never begins.
bool IsGone(const HeldTask& held, const v1::SyncRequest& request,
            const Daemon& daemon) {
  if (held.placement->state() == v1::TASK_STATE_RUNNING) return true;
  const auto withdrawn = daemon.withdrawn.find(held.key);
  return withdrawn != daemon.withdrawn.end() &&
         request.last_answer() >= withdrawn->second;
}

// Takes over what the daemon says of its tasks.
void TakeReports(const v1::SyncRequest& request, absl::Time now, Daemon& daemon,
                 State& state) {
  std::map<TaskKey, const v1::TaskReport*> reports;
  for (const v1::TaskReport& report : request.tasks()) {
    const v1::JobTask& task = report.task();
    reports[KeyOf(task.job(), task.generation(), task.task())] = &report;
  }
  for (const HeldTask& held : TasksOf(daemon, state)) {
    const v1::JobRecord& record = held.job->record;
    const auto found = reports.find(
        KeyOf(record.id(), record.generation(), held.placement->task()));
    if (found == reports.end()) {
      if (IsGone(held, request, daemon)) {
        state.TaskOver(*held.job, *held.placement, kUnseenExitCode,
                       "its daemon does not hold it", now);
      }
      continue;
    }
    const v1::TaskReport& report = *found->second;
    reports.erase(found);
    const bool is_over = report.state() == v1::TASK_STATE_OVER;
    // A short task may have ended before the first report of it. But one that
    // left so early may never have run.
    const bool has_run = held.placement->state() == v1::TASK_STATE_RUNNING ||
                         !(is_over && report.exit_code() == kRestart);
    if (has_run) {
      state.TaskRuns(*held.job, *held.placement, report.address(), now);
    }
    if (is_over) {
      held.placement->set_lost_outputs(PeerText(report.lost_outputs()));
      state.TaskOver(*held.job, *held.placement,
                     static_cast<int>(report.exit_code()), report.error(), now,
                     report.has_usage() ? &report.usage() : nullptr);
    }
  }

  // Those that the books do not know.
  std::set<std::string> strays;
  for (const auto& [key, report] : reports) {
    if (report->state() == v1::TASK_STATE_RUNNING) {
      strays.insert(report->task().job());
    }
  }
  if (strays != daemon.strays) state.should_schedule = true;
  daemon.strays = std::move(strays);
}

// The order for a task; nullopt while it waits for the leader's address, or
// should end.
std::optional<v1::TaskOrder> OrderFor(const HeldTask& held) {
  const v1::JobRecord& record = held.job->record;
  if (record.state() == v1::JOB_STATE_ENDING) return std::nullopt;
  v1::TaskOrder order;
  if (held.placement == &held.job->leader()) {
    order.set_should_stop(record.stop_reason() != v1::STOP_REASON_UNSPECIFIED);
  } else if (held.job->leader().address().empty()) {
    return std::nullopt;
  } else {
    order.set_leader_address(held.job->leader().address());
  }
  order.mutable_task()->set_job(record.id());
  order.mutable_task()->set_generation(record.generation());
  *order.mutable_task()->mutable_task() = held.placement->task();
  return order;
}

}  // namespace

absl::StatusOr<v1::SyncResponse> JobQueue::Sync(const v1::SyncRequest& request,
                                                absl::Time now) {
  RETURN_IF_ERROR(CheckSync(request));
  State& state = *state_;
  v1::SyncResponse response;
  response.set_coordinator(state.options.incarnation);
  // Sequence numbers are not stored. So a message to an earlier coordinator
  // could be older than what the books say.
  if (request.coordinator() != state.options.incarnation) return response;
  ASSIGN_OR_RETURN(Daemon * daemon, DaemonOf(request, state));
  if (request.incarnation() < daemon->incarnation) {
    return absl::FailedPreconditionError(absl::StrCat(
        request.daemon(), ": a later process of this name has registered"));
  }
  if (request.incarnation() > daemon->incarnation) {
    RETURN_IF_ERROR(CheckHasName(*daemon, request));
    BeginIncarnation(request, now, *daemon, state);
  } else if (request.sequence() < daemon->sequence) {
    return absl::AbortedError(absl::StrCat(request.daemon(), ": message ",
                                           request.sequence(), " came after ",
                                           daemon->sequence));
  }
  const bool has_decided = daemon->is_leaving != request.is_leaving();
  if (daemon->sequence == 0 || daemon->is_silent || has_decided) {
    state.should_schedule = true;
  }
  daemon->sequence = request.sequence();
  daemon->last_heard = now;
  daemon->is_silent = false;
  daemon->is_lost = false;
  daemon->is_leaving = request.is_leaving();
  if (has_decided) state.ChangedDaemon(*daemon);
  TakeReports(request, now, *daemon, state);

  for (const HeldTask& held : TasksOf(*daemon, state)) {
    if (std::optional<v1::TaskOrder> order = OrderFor(held)) {
      *response.add_orders() = *std::move(order);
    } else if (held.job->record.state() == v1::JOB_STATE_ENDING) {
      daemon->withdrawn.try_emplace(held.key, request.sequence());
    }
  }
  return response;
}

void JobQueue::StoodStill(absl::Duration time) {
  for (auto& [name, daemon] : state_->daemons) daemon.last_heard += time;
}

void JobQueue::Tick(absl::Time now) {
  State& state = *state_;
  if (now < state.next_check) return;
  state.next_check = now + kCheckInterval;
  for (auto& [name, daemon] : state.daemons) {
    if (!daemon.is_silent &&
        now - daemon.last_heard > state.options.silence_timeout) {
      daemon.is_silent = true;
      state.should_schedule = true;
    }
  }
  const std::vector<uint64_t> begun(state.begun.begin(), state.begun.end());
  for (const uint64_t number : begun) {
    state.CheckTimes(state.jobs.at(number), now);
  }
  for (auto next = state.daemons.begin(); next != state.daemons.end();) {
    const auto current = next++;
    Daemon& daemon = current->second;
    const absl::Duration silence = now - daemon.last_heard;
    if (!daemon.is_lost && silence > state.options.daemon_timeout) {
      daemon.is_lost = true;
      daemon.strays.clear();
      state.should_schedule = true;
      LoseTasks(daemon, kUnseenExitCode,
                absl::StrCat("its daemon was silent for ",
                             absl::FormatDuration(
                                 absl::Trunc(silence, absl::Seconds(1)))),
                now, state);
    }
    // One that said that it leaves has left.
    const absl::Duration memory = daemon.is_leaving
                                      ? state.options.daemon_timeout
                                      : state.options.forget_after;
    if (silence > memory && daemon.tasks.empty() && !daemon.is_drained) {
      state.changed_daemons.erase(daemon.name);
      state.removals.emplace_back(RemoveDaemon{daemon.name});
      state.daemons.erase(current);
    }
  }
}

}  // namespace paceline
