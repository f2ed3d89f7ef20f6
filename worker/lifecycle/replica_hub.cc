#include "worker/lifecycle/replica_hub.h"

#include <algorithm>
#include <utility>

#include "common/base/status_macros.h"

namespace paceline {
namespace {

// Waits wake up at this interval and check again. Deadlines are those of the
// replica that fetches the next lease.
constexpr absl::Duration kLeaseWaitSlice = absl::Seconds(1);

}  // namespace

class ReplicaHub::Sink : public ProgressSink {
 public:
  Sink(ReplicaHub& hub, int replica) : hub_(hub), replica_(replica) {}

  void Worked() override { ++hub_.member_.activity(); }
  void Report(const v1::LeaseReport& report, bool complete) override {
    hub_.Report(replica_, report, complete);
  }
  void ReportStep(int64_t step, double total, double weight) override {
    hub_.ReportStep(step, total, weight);
  }

 private:
  ReplicaHub& hub_;
  const int replica_;
};

ReplicaHub::ReplicaHub(int replicas, Member& member, LeaseSource source)
    : replicas_(replicas),
      member_(member),
      source_(std::move(source)),
      next_(replicas) {
  for (int replica = 0; replica < replicas; ++replica) {
    sinks_.push_back(std::make_unique<Sink>(*this, replica));
  }
}

absl::StatusOr<std::optional<v1::Lease>> ReplicaHub::NextLease(int replica) {
  while (true) {
    {
      MutexLock lock(lease_mutex_);
      if (!HasNext(replica) && is_fetching_) {
        fetched_one_.WaitFor(lease_mutex_, kLeaseWaitSlice);
        continue;
      }
      if (HasNext(replica)) return TakeNext(replica);
      RETURN_IF_ERROR(end_);
      if (ended_) return std::optional<v1::Lease>();
      is_fetching_ = true;
    }
    // Called without the lock, since other replicas may still have leases to
    // take.
    absl::StatusOr<std::optional<v1::Lease>> lease = source_();
    MutexLock lock(lease_mutex_);
    is_fetching_ = false;
    end_ = lease.status();
    ended_ = !lease.ok() || !lease->has_value();
    if (!ended_) fetched_.push_back(**std::move(lease));
    fetched_one_.NotifyAll();
  }
}

bool ReplicaHub::HasNext(int replica) const {
  return next_[replica] <
         first_fetched_ + static_cast<int64_t>(fetched_.size());
}

v1::Lease ReplicaHub::TakeNext(int replica) {
  v1::Lease lease = fetched_[next_[replica] - first_fetched_];
  ++next_[replica];
  while (*std::min_element(next_.begin(), next_.end()) > first_fetched_) {
    fetched_.pop_front();
    ++first_fetched_;
  }
  return lease;
}

void ReplicaHub::Report(int replica, const v1::LeaseReport& report,
                        bool complete) {
  // The only replica reports directly.
  if (replicas_ == 1) return member_.Report(report, complete);
  MutexLock lock(mutex_);
  OpenLease& open = open_[report.lease_id()];
  open.reports.resize(replicas_);
  open.reports[replica] = report;
  if (complete) ++open.complete_count;
  // Counts only steps that all replicas have finished. Otherwise the leader
  // could take a lease for finished while a replica still works on its last
  // step.
  for (const v1::LeaseReport& each : open.reports) {
    if (each.steps() != report.steps()) return;
  }
  Add(open);
  const bool all_complete = open.complete_count == replicas_;
  if (all_complete) open_.erase(report.lease_id());
  member_.Report(sum_, all_complete);
}

void ReplicaHub::Add(const OpenLease& open) {
  sum_ = open.reports.front();
  v1::MetricSums* sums = sum_.mutable_sums();
  for (int replica = 1; replica < replicas_; ++replica) {
    const v1::LeaseReport& report = open.reports[replica];
    sum_.set_examples(sum_.examples() + report.examples());
    sum_.set_skipped_examples(sum_.skipped_examples() +
                              report.skipped_examples());
    for (int i = 0; i < sums->states_size(); ++i) {
      sums->set_states(i, sums->states(i) + report.sums().states(i));
    }
    const uint64_t bad_step = report.first_nonfinite_step();
    if (bad_step > 0 && (sum_.first_nonfinite_step() == 0 ||
                         bad_step < sum_.first_nonfinite_step())) {
      sum_.set_first_nonfinite_step(bad_step);
    }
  }
}

void ReplicaHub::ReportStep(int64_t step, double total, double weight) {
  MutexLock lock(mutex_);
  OpenStep& open = open_steps_[step];
  open.sum.set_step(static_cast<uint64_t>(step));
  open.sum.set_total(open.sum.total() + total);
  open.sum.set_weight(open.sum.weight() + weight);
  if (++open.count < replicas_) return;
  member_.ReportStep(open.sum);
  open_steps_.erase(step);
}

}  // namespace paceline
