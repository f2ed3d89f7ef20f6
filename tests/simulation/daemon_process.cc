#include "tests/simulation/daemon_process.h"

#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/cluster/task_proto.h"
#include "coordinator/queue/demand.h"
#include "glog/logging.h"

namespace paceline {
namespace {

constexpr absl::Duration kHeartbeat = absl::Seconds(5);
// From the start of a leader to its address, and from SIGTERM to the end.
constexpr absl::Duration kListenTime = absl::Milliseconds(200);
constexpr absl::Duration kLongestKill = absl::Seconds(10);
constexpr int kKilled = 137;
constexpr int kAskedToLeave = 138;

RunningTask TaskOf(const v1::JobTask& message) {
  const absl::StatusOr<TaskId> task = TaskFromProto(message.task());
  CHECK(task.ok()) << task.status();
  return {message.job(), message.generation(), *task};
}

using SyncAnswer = std::optional<absl::StatusOr<v1::SyncResponse>>;

}  // namespace

DaemonProcess::DaemonProcess(Simulator& simulator, TaskLedger& ledger,
                             World& world, const DaemonOptions& options)
    : simulator_(simulator),
      ledger_(ledger),
      world_(world),
      options_(options),
      total_(ResourcesFromProto(options.total, kMaxTasksOfDaemon)),
      incarnation_(absl::ToUnixMicros(simulator.now())) {}

void DaemonProcess::SyncRegularly() {
  Sync();
  simulator_.After(kHeartbeat, shared_from_this(), [this] { SyncRegularly(); });
}

v1::SyncRequest DaemonProcess::Report() {
  v1::SyncRequest request;
  request.set_daemon(options_.name);
  request.set_incarnation(incarnation_);
  request.set_sequence(++last_sent_);
  request.set_coordinator(known_coordinator_);
  request.set_last_answer(last_taken_);
  request.set_type(options_.type);
  request.set_version("1");
  request.set_is_leaving(is_leaving_);
  *request.mutable_total() = options_.total;
  for (const auto& [task, held] : held_) {
    v1::TaskReport& report = *request.add_tasks();
    report.mutable_task()->set_job(task.job);
    report.mutable_task()->set_generation(task.generation);
    *report.mutable_task()->mutable_task() = TaskToProto(task.task);
    report.set_state(held.state);
    report.set_address(held.address);
    report.set_exit_code(held.exit_code);
  }
  return request;
}

void DaemonProcess::Sync() {
  if (is_dead || simulator_.now() < cut_off_until_) return;
  const v1::SyncRequest request = Report();
  const std::shared_ptr<CoordinatorProcess> coordinator = world_.coordinator();
  simulator_.Send<SyncAnswer>(
      shared_from_this(), coordinator,
      [this, coordinator, request]() -> SyncAnswer {
        if (simulator_.now() < cut_off_until_) return std::nullopt;
        SyncAnswer answer =
            coordinator->Handle([&](JobQueue& queue, absl::Time now) {
              return queue.Sync(request, now);
            });
        if (answer && answer->ok() &&
            (**answer).coordinator() == request.coordinator()) {
          ledger_.Heard(options_.name, simulator_.now());
        }
        return answer;
      },
      [this, sequence = request.sequence()](const SyncAnswer& answer) {
        if (!answer || simulator_.now() < cut_off_until_) return;
        if (answer->ok()) {
          TakeAnswer(sequence, **answer);
        } else if (!absl::IsAborted(answer->status())) {
          ledger_.Violation(answer->status().ToString());
        }
      });
}

void DaemonProcess::TakeAnswer(uint64_t sequence,
                               const v1::SyncResponse& response) {
  if (sequence <= last_taken_) return;
  last_taken_ = sequence;
  if (response.coordinator() != known_coordinator_) {
    known_coordinator_ = response.coordinator();
    Sync();
  } else {
    TakeOrders(response);
  }
}

void DaemonProcess::TakeOrders(const v1::SyncResponse& response) {
  std::set<RunningTask> ordered;
  for (const v1::TaskOrder& order : response.orders()) {
    const RunningTask task = TaskOf(order.task());
    ordered.insert(task);
    if (is_leaving_) {
      held_.try_emplace(task, Held{v1::TASK_STATE_OVER, "", kAskedToLeave});
    } else if (!held_.contains(task)) {
      StartTask(task);
    }
    Held& held = held_[task];
    if (order.should_stop() && !std::exchange(held.was_asked_to_stop, true)) {
      world_.StopAsked(task, shared_from_this());
    }
  }
  for (auto next = held_.begin(); next != held_.end();) {
    const auto current = next++;
    if (ordered.contains(current->first)) continue;
    if (current->second.state == v1::TASK_STATE_OVER) {
      held_.erase(current);
    } else if (!std::exchange(current->second.is_being_killed, true)) {
      KillTask(current->first, kKilled);
    }
  }
}

void DaemonProcess::StartTask(const RunningTask& task) {
  held_[task] = Held();
  ledger_.Started(task, options_.name, world_.NeedOf(task), total_,
                  simulator_.now());
  world_.TaskStarted(task, shared_from_this());
  if (task.task != kLeaderTask) return;
  simulator_.After(kListenTime, shared_from_this(), [this, task] {
    const auto found = held_.find(task);
    if (found == held_.end()) return;
    found->second.address = absl::StrCat(options_.name, ":1");
    Sync();
  });
}

void DaemonProcess::KillTask(const RunningTask& task, int exit_code) {
  simulator_.After(simulator_.Between(absl::ZeroDuration(), kLongestKill),
                   shared_from_this(),
                   [this, task, exit_code] { EndTask(task, exit_code); });
}

void DaemonProcess::EndTask(const RunningTask& task, int exit_code) {
  const auto found = held_.find(task);
  if (found == held_.end() || found->second.state == v1::TASK_STATE_OVER) {
    return;
  }
  found->second.state = v1::TASK_STATE_OVER;
  found->second.exit_code = exit_code;
  ledger_.Ended(task, options_.name);
  world_.TaskEnded(task, exit_code);
  Sync();
}

void DaemonProcess::Leave() {
  is_leaving_ = true;
  for (auto& [task, held] : held_) {
    if (held.state == v1::TASK_STATE_OVER) continue;
    if (!std::exchange(held.is_being_killed, true))
      KillTask(task, kAskedToLeave);
  }
  Sync();
}

void DaemonProcess::Die() {
  is_dead = true;
  for (const auto& [task, held] : held_) {
    if (held.state == v1::TASK_STATE_OVER) continue;
    ledger_.Ended(task, options_.name);
    world_.TaskEnded(task, kKilled);
  }
}

}  // namespace paceline
