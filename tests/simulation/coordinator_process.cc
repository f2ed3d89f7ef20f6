#include "tests/simulation/coordinator_process.h"

#include <utility>
#include <variant>
#include <vector>

#include "glog/logging.h"

namespace paceline {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(100);

}  // namespace

CoordinatorProcess::CoordinatorProcess(Simulator& simulator, TaskLedger& ledger,
                                       QueueRecords& store,
                                       const CoordinatorOptions& options,
                                       Wake wake)
    : simulator_(simulator),
      ledger_(ledger),
      store_(store),
      options_(options),
      wake_(std::move(wake)) {
  JobQueueOptions queue_options = options_.queue;
  queue_options.incarnation = simulator_.Incarnation();
  absl::StatusOr<std::unique_ptr<JobQueue>> queue =
      store_.Restore(queue_options, simulator_.now());
  CHECK(queue.ok()) << queue.status();
  queue_ = *std::move(queue);
}

void CoordinatorProcess::Start() { Tick(); }

void CoordinatorProcess::Tick() {
  queue_->Tick(simulator_.now());
  if (!Follow()) return;
  simulator_.After(kTick, shared_from_this(), [this] { Tick(); });
}

bool CoordinatorProcess::Dies() {
  if (!is_dead && simulator_.Chance(options_.crash_chance)) is_dead = true;
  return is_dead;
}

bool CoordinatorProcess::Follow() {
  const std::vector<QueueAction> actions =
      queue_->TakeActions(simulator_.now());
  if (actions.empty()) return true;
  if (Dies()) return false;
  // One transaction.
  for (const QueueAction& action : actions) {
    store_.Apply(action);
    const auto* job = std::get_if<StoreJob>(&action);
    if (job != nullptr && job->record.state() == v1::JOB_STATE_SUCCEEDED) {
      ledger_.Succeeded(job->record.id());
    }
  }
  if (Dies()) return false;
  for (const QueueAction& action : actions) {
    if (const auto* changed = std::get_if<OrdersChanged>(&action)) {
      wake_(changed->daemon);
    }
  }
  return true;
}

absl::Status CoordinatorProcess::CheckInvariants() const {
  if (++events_ % options_.check_every != 0) return absl::OkStatus();
  return queue_->CheckInvariants();
}

}  // namespace paceline
