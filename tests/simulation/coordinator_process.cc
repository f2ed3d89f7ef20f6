#include "tests/simulation/coordinator_process.h"

#include <utility>
#include <variant>

#include "glog/logging.h"

namespace paceline {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(100);

template <typename Record>
std::vector<Record> Values(const std::map<std::string, Record>& records) {
  std::vector<Record> values;
  for (const auto& [name, record] : records) values.push_back(record);
  return values;
}

// Stores or removes a record.
struct StoreAction {
  QueueStore& store;
  TaskLedger& ledger;

  void operator()(const StoreJob& action) const {
    const v1::JobRecord& record = action.record;
    store.jobs[record.id()] = record;
    if (record.state() == v1::JOB_STATE_SUCCEEDED) {
      ledger.Succeeded(record.id());
    }
  }
  void operator()(const StoreDaemon& action) const {
    store.daemons[action.record.name()] = action.record;
  }
  void operator()(const StoreLastNumber& action) const {
    store.last_number = action.number;
  }
  void operator()(const RemoveJob& action) const {
    store.jobs.erase(action.id);
  }
  void operator()(const RemoveDaemon& action) const {
    store.daemons.erase(action.name);
  }
  void operator()(const OrdersChanged&) const {}
};

}  // namespace

CoordinatorProcess::CoordinatorProcess(Simulator& simulator, TaskLedger& ledger,
                                       QueueStore& store,
                                       const CoordinatorOptions& options,
                                       Wake wake)
    : simulator_(simulator),
      ledger_(ledger),
      store_(store),
      options_(options),
      wake_(std::move(wake)) {
  JobQueueOptions queue_options = options_.queue;
  queue_options.incarnation = simulator_.Incarnation();
  absl::StatusOr<std::unique_ptr<JobQueue>> queue = JobQueue::Create(
      queue_options, Values(store_.jobs), Values(store_.daemons),
      store_.last_number, simulator_.now());
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
    std::visit(StoreAction{store_, ledger_}, action);
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
