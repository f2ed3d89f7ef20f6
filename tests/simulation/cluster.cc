#include "tests/simulation/cluster.h"

#include <utility>

#include "common/limits.h"
#include "glog/logging.h"

namespace paceline {
namespace {

constexpr absl::Duration kStartWithin = absl::Seconds(2);
constexpr absl::Duration kReplaceInterval = absl::Seconds(1);

std::unique_ptr<Session> MakeSession(const ClusterOptions& options,
                                     absl::Time now) {
  SessionOptions session;
  session.job.set_strategy(v1::STRATEGY_PARAMETER_SERVER);
  session.job.set_batch_size_per_replica(options.worker.batch_size);
  session.job.set_epochs(options.epochs);
  session.job.set_consistency(options.aggregator.consistency);
  session.job.mutable_checkpoint()->set_every_steps(options.checkpoint_steps);
  session.learning_rate = [](int64_t) { return 0.1; };
  for (int i = 0; i < options.shards; ++i) {
    session.tasks.push_back({{TaskType::kPs, i}, ""});
  }
  for (int i = 0; i < options.workers; ++i) {
    session.tasks.push_back({{TaskType::kWorker, i}, ""});
  }
  session.counters.resize(options.shards);
  session.heartbeat_timeout = limits::kHeartbeatTimeout;
  session.stall_timeout = limits::kStallTimeout;
  session.start_timeout = limits::kStartTimeout;
  session.shutdown_timeout = limits::kShutdownTimeout;
  auto made = Session::Create(std::move(session), now);
  CHECK(made.ok()) << made.status();
  return *std::move(made);
}

}  // namespace

Cluster::Cluster(const ClusterOptions& options)
    : options_(options), simulator_(options.seed, options.network) {
  leader_ = std::make_shared<LeaderProcess>(
      simulator_, ledger_, MakeSession(options, simulator_.now()));
  AggregatorOptions aggregator = options.aggregator;
  aggregator.workers = static_cast<uint32_t>(options.workers);
  for (int i = 0; i < options.shards; ++i) {
    shards_.push_back(std::make_shared<ShardProcess>(simulator_, ledger_,
                                                     *leader_, i, aggregator));
    simulator_.After(simulator_.Between({}, kStartWithin), shards_[i],
                     [shard = shards_[i].get()] { shard->Start(); });
  }
  leader_->Start(shards_);
  workers_.resize(options.workers);
  for (int i = 0; i < options.workers; ++i) StartWorker(i);
  AwaitStart();
}

void Cluster::AwaitStart() {
  if (leader_->session().Progress().phase == v1::PHASE_UNSPECIFIED) {
    simulator_.After(kReplaceInterval, fate_, [this] { AwaitStart(); });
    return;
  }
  simulator_.After(options_.crash_interval, fate_, [this] { Crash(); });
  simulator_.After(options_.hang_interval, fate_, [this] { Hang(); });
  if (options_.leave_interval < absl::InfiniteDuration()) {
    simulator_.After(options_.leave_interval, fate_, [this] { Leave(); });
  }
  Replace();
}

absl::Status Cluster::Run(absl::Duration limit) {
  return simulator_.Run(
      [this] { return leader_->session().AllGone(simulator_.now()); }, limit);
}

absl::Status Cluster::RunToEpoch(int epoch, absl::Duration limit) {
  return simulator_.Run(
      [&] {
        const ProgressView view = leader_->session().Progress();
        return view.phase == v1::PHASE_TRAIN && view.epoch >= epoch &&
               view.steps_done > 0;
      },
      limit);
}

int Cluster::lapsed_count() const {
  int count = 0;
  for (const auto& shard : shards_) count += shard->lapsed_count();
  return count;
}

void Cluster::StartWorker(int index) {
  WorkerOptions worker = options_.worker;
  worker.only_joins = index < options_.joining_workers;
  workers_[index] = std::make_shared<WorkerProcess>(simulator_, *leader_,
                                                    shards_, index, worker);
  simulator_.After(simulator_.Between({}, kStartWithin), workers_[index],
                   [worker = workers_[index].get()] { worker->Start(); });
}

void Cluster::Crash() {
  workers_[simulator_.Index(options_.workers)]->is_dead = true;
  simulator_.After(options_.crash_interval, fate_, [this] { Crash(); });
}

void Cluster::Hang() {
  workers_[simulator_.Index(options_.workers)]->paused_until =
      simulator_.now() + simulator_.Between({}, options_.longest_hang);
  simulator_.After(options_.hang_interval, fate_, [this] { Hang(); });
}

void Cluster::Leave() {
  WorkerProcess& worker = *workers_[simulator_.Index(options_.workers)];
  if (!worker.is_dead) worker.AskToLeave();
  simulator_.After(options_.leave_interval, fate_, [this] { Leave(); });
}

void Cluster::Replace() {
  const double share =
      absl::FDivDuration(kReplaceInterval, options_.longest_absence);
  for (int i = 0; i < options_.workers; ++i) {
    if (workers_[i]->is_dead && simulator_.Chance(2 * share)) StartWorker(i);
  }
  simulator_.After(kReplaceInterval, fate_, [this] { Replace(); });
}

}  // namespace paceline
