#include "tests/simulation/worker_process.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tests/simulation/leader_process.h"

namespace paceline {
namespace {

constexpr absl::Duration kCallPause = absl::Milliseconds(100);
constexpr absl::Duration kJoinPause = absl::Seconds(5);
constexpr size_t kLeases = 2;

}  // namespace

WorkerProcess::WorkerProcess(Simulator& simulator, LeaderProcess& leader,
                             std::vector<std::shared_ptr<ShardProcess>> shards,
                             int index, const WorkerOptions& options)
    : MemberProcess(simulator, leader, {TaskType::kWorker, index}),
      shards_(std::move(shards)),
      options_(options),
      index_(index) {}

void WorkerProcess::AddProgress(v1::HeartbeatRequest& request) {
  request.set_activity(activity_);
  if (missing_answers_ > 0 && !is_computing_) {
    request.set_waiting_for("a shard");
  }
  for (const auto& [id, report] : reports_) *request.add_reports() = report;
}

void WorkerProcess::ProgressArrived(const v1::HeartbeatRequest& request) {
  for (const v1::LeaseReport& report : request.reports()) {
    const auto it = reports_.find(report.lease_id());
    if (it != reports_.end() && finished_.contains(it->first) &&
        it->second.examples() == report.examples()) {
      finished_.erase(it->first);
      reports_.erase(it);
    }
  }
}

void WorkerProcess::AskToLeave() {
  leaves_ = true;
  if (!is_working_) Exit(absl::OkStatus());
}

void WorkerProcess::AwaitStart() {
  v1::AwaitStartRequest request;
  *request.mutable_member() = self_;
  request.set_train_examples(options_.sizes.train);
  request.set_validation_examples(options_.sizes.validation);
  request.set_test_examples(options_.sizes.test);
  using Answer = absl::StatusOr<std::optional<v1::AwaitStartResponse>>;
  simulator_.Call<Answer>(
      shared_from_this(), leader_.shared_from_this(),
      [&leader = leader_, request] {
        return leader.Handle([&](Session& session, absl::Time now) {
          return session.AwaitStart(request, now);
        });
      },
      [this](const Answer& answer) {
        if (!answer.ok()) {
          Exit(answer.status());
        } else if (!answer->has_value()) {
          simulator_.After(kCallPause, shared_from_this(),
                           [this] { AwaitStart(); });
        } else if (options_.only_joins) {
          OnlyJoin();
        } else {
          Acquire();
        }
      });
}

void WorkerProcess::OnlyJoin() {
  Join([this] {
    simulator_.After(kJoinPause, shared_from_this(), [this] { OnlyJoin(); });
  });
}

void WorkerProcess::Acquire() {
  if (is_asking_ || leases_.size() >= kLeases) return;
  is_asking_ = true;
  v1::AcquireLeaseRequest request;
  *request.mutable_member() = self_;
  request.set_request(request_);
  using Answer = absl::StatusOr<std::optional<v1::AcquireLeaseResponse>>;
  simulator_.Call<Answer>(
      shared_from_this(), leader_.shared_from_this(),
      [&leader = leader_, request] {
        return leader.Handle([&](Session& session, absl::Time now) {
          return session.AcquireLease(request, now);
        });
      },
      [this](const Answer& answer) {
        is_asking_ = false;
        if (!answer.ok()) {
          Exit(answer.status());
        } else if (!answer->has_value()) {
          simulator_.After(kCallPause, shared_from_this(),
                           [this] { Acquire(); });
        } else if ((*answer)->has_lease()) {
          ++request_;
          leases_.push_back((*answer)->lease());
          reports_[leases_.back().id()].set_lease_id(leases_.back().id());
          if (!is_working_) Step();
          Acquire();
        }
      });
}

void WorkerProcess::Step() {
  is_working_ = !leases_.empty();
  if (!is_working_) return;
  const v1::Lease& lease = leases_.front();
  if (options_.joins && lease.phase() == v1::PHASE_TRAIN &&
      reports_[lease.id()].examples() == 0) {
    Join([this] { Compute(); });
  } else {
    Compute();
  }
}

v1::WorkerId WorkerProcess::id() const {
  v1::WorkerId id;
  id.set_rank(index_);
  id.set_incarnation(self_.incarnation());
  return id;
}

void WorkerProcess::Join(std::function<void()> joined) {
  missing_answers_ = shards_.size();
  for (const auto& shard : shards_) {
    simulator_.Call<absl::StatusOr<uint64_t>>(
        shared_from_this(), shard,
        [shard, id = id(), sequence = sequence_] {
          return shard->Join(id, sequence);
        },
        [this, joined](const absl::StatusOr<uint64_t>& clock) {
          if (is_dead) return;
          if (!clock.ok()) return Exit(clock.status());
          clock_ = std::max(clock_, *clock);
          if (--missing_answers_ == 0) joined();
        });
  }
}

void WorkerProcess::Compute() {
  const absl::Duration step =
      simulator_.Between(options_.min_step, options_.max_step);
  const bool trains = leases_.front().phase() == v1::PHASE_TRAIN;
  is_computing_ = true;
  if (trains && options_.pushes_early) PushEarly(step);
  simulator_.After(step, shared_from_this(), [this, trains] {
    is_computing_ = false;
    if (trains && options_.pushes_early) {
      PushTo(shards_.back(), last_push_);
    } else if (trains) {
      PushStep();
    } else {
      StepDone();
    }
  });
}

Push WorkerProcess::NextPush() {
  const v1::Lease& lease = leases_.front();
  Push push;
  push.worker = id();
  push.progress.set_sequence(++sequence_);
  *push.progress.mutable_lease() = NextReport();
  *push.progress.mutable_previous() = previous_;
  push.epoch = lease.epoch();
  push.begin = lease.begin() + reports_[lease.id()].examples();
  push.end = lease.begin() + push.progress.lease().examples();
  push.clock.set_steps(++clock_);
  push.clock.set_pauses(leaves_ || push.end == lease.end());
  missing_answers_ = shards_.size();
  return push;
}

void WorkerProcess::PushEarly(absl::Duration step) {
  last_push_ = NextPush();
  Push early = last_push_;
  early.progress.mutable_lease()->clear_sums();
  early.progress.mutable_previous()->clear_sums();
  for (size_t i = 0; i + 1 < shards_.size(); ++i) {
    const double part =
        static_cast<double>(i + 1) / static_cast<double>(shards_.size());
    simulator_.After(
        step * part, shared_from_this(),
        [this, shard = shards_[i], early] { PushTo(shard, early); });
  }
}

void WorkerProcess::PushStep() {
  const Push push = NextPush();
  for (const auto& shard : shards_) PushTo(shard, push);
}

void WorkerProcess::PushTo(const std::shared_ptr<ShardProcess>& shard,
                           const Push& push) {
  simulator_.Call<absl::StatusOr<bool>>(
      shared_from_this(), shard, [shard, push] { return shard->Apply(push); },
      [this, shard, push](const absl::StatusOr<bool>& is_answered) {
        if (is_dead) return;
        if (!is_answered.ok()) return Exit(is_answered.status());
        if (!*is_answered) {
          simulator_.After(kCallPause, shared_from_this(),
                           [this, shard, push] { PushTo(shard, push); });
        } else if (--missing_answers_ == 0) {
          StepDone();
        }
      });
}

void WorkerProcess::StepDone() {
  const v1::Lease lease = leases_.front();
  ++activity_;
  reports_[lease.id()] = NextReport();
  if (reports_[lease.id()].examples() == lease.end() - lease.begin()) {
    previous_ = reports_[lease.id()];
    leases_.pop_front();
    finished_.insert(lease.id());
    Beat();
    if (!leaves_) Acquire();
  }
  if (leaves_) {
    Beat();
    return Exit(absl::OkStatus());
  }
  Step();
}

v1::LeaseReport WorkerProcess::NextReport() const {
  const v1::Lease& lease = leases_.front();
  v1::LeaseReport report = reports_.at(lease.id());
  const uint64_t begin = lease.begin() + report.examples();
  const uint64_t end =
      std::min<uint64_t>(begin + options_.batch_size, lease.end());
  double total = report.sums().states().empty() ? 0 : report.sums().states(0);
  for (uint64_t i = begin; i < end; ++i) total += static_cast<double>(i);
  report.set_examples(end - lease.begin());
  report.set_steps(report.steps() + 1);
  report.mutable_sums()->clear_states();
  report.mutable_sums()->add_states(total);
  report.mutable_sums()->add_states(static_cast<double>(report.examples()));
  return report;
}

}  // namespace paceline
