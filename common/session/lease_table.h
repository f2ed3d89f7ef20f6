// The examples of one pass over a data set, handed out as leases.
//
// A pass is a set of positions in the epoch's order. A lease is a range of them
// that begins and ends at batches. Sizes follow guided self-scheduling
// (Polychronopoulos and Kuck, 1987): a lease takes 1/(2·workers) of what is
// left, so leases shrink towards the end and all workers finish together.
//
// Each example is counted once: sums are kept a lease, as totals since its
// begin, so repeats and late reports change nothing. Where metrics have large
// states (limits::kMaxReportedState), the report that ends a lease alone has
// them. Of a worker that is lost before it gave that report, the lease's
// examples count as far as shards applied them, its loss as far as a push with
// sums said, and nothing for its metrics.
//
// Under a synchronous strategy all workers share each lease: every worker gets
// it, in the same order, and reports what it did of it; the lease is finished
// when each has taken all its steps, also those in which it had no example.
#ifndef PACELINE_COMMON_SESSION_LEASE_TABLE_H_
#define PACELINE_COMMON_SESSION_LEASE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/cluster/task.h"
#include "common/session/lease_report.h"
#include "paceline/v1/coordinator.pb.h"

namespace paceline {

// Batches in a lease, at most (but for Options::batches_at_once): bounds what a
// lost worker holds back.
inline constexpr int64_t kMaxLeaseBatches = 64;
// Leases a worker holds, at most: one it works on, one it prefetches.
inline constexpr int kMaxOpenLeases = 2;

// Positions [begin, end).
struct ExampleRange {
  int64_t begin = 0;
  int64_t end = 0;

  bool operator==(const ExampleRange&) const = default;
};

// What was done in a pass, or in a part of it.
struct PassTotals {
  int64_t examples = 0;
  int64_t steps = 0;
  // Of the loss and each metric.
  std::vector<double> states;

  // Whether they are of any example: the loss, a mean, has a count.
  bool has_sums() const { return states[1] > 0; }
};

// Not thread-safe. A state machine without I/O.
class LeaseTable {
 public:
  struct Options {
    v1::Phase phase = v1::PHASE_TRAIN;
    int epoch = 0;
    int64_t batch_size = 1;
    // A lease has a multiple of so many batches, while there are as many: what
    // a device takes at once is not cut.
    int64_t batches_at_once = 1;
    // 1: each worker has leases of its own.
    int workers_per_lease = 1;
    // Numbers of the states of the loss and the metrics.
    size_t state_size = 2;
    // Ids are unique in the life of a job.
    uint64_t first_lease_id = 1;
  };

  // A pass over `remaining`, which are disjoint; `counted` was done before.
  LeaseTable(const Options& options, absl::Span<const ExampleRange> remaining,
             PassTotals counted);

  // The next lease, of at most `max_steps` batches, for one of `worker_count`
  // workers. nullopt if nothing can be given to this worker now.
  std::optional<v1::Lease> Grant(TaskId worker, int worker_count,
                                 int64_t max_steps);

  // Takes a report of a lease's holder; returns whether the lease is finished
  // now. Reports of leases that are not open, and older ones, change nothing.
  // InvalidArgument: it claims more examples or steps than the lease has, the
  // lease of another worker, or contradicts what it said before. `report` has
  // Options::state_size numbers at most.
  absl::StatusOr<bool> Report(TaskId worker, const LeaseReport& report);

  // The worker is gone, and what it did is void (an evaluation): its leases go
  // back whole.
  void ReturnWhole(TaskId worker);
  // The worker is gone, and `records` are the last reports that shards have of
  // its leases: what any shard applied is counted, the rest goes back. The sums
  // are those of the furthest report that has any.
  // InvalidArgument: as for Report.
  absl::Status ReturnRest(TaskId worker, absl::Span<const LeaseReport> records);

  v1::Phase phase() const { return options_.phase; }
  // A lease that the worker has and that is not finished; null: there is none
  // of this id.
  const v1::Lease* Find(TaskId worker, uint64_t lease_id) const;
  // Whether the worker has something left to do of a lease.
  bool Holds(TaskId worker) const;
  bool HasOpenLeases() const { return !open_.empty(); }
  // Who has leases that are not finished, in order.
  std::vector<TaskId> Holders() const;
  // Whether every example is counted.
  bool Done() const { return open_.empty() && remaining_.empty(); }

  // Everything counted, reports of open leases included.
  PassTotals Totals() const;
  // Steps of the open leases that are not reported yet.
  int64_t OpenSteps() const;
  // Steps and examples of the whole pass, with what was counted before.
  int64_t steps_total() const { return steps_total_; }
  int64_t examples_total() const { return examples_total_; }
  // What is neither counted nor leased, in order.
  std::vector<ExampleRange> Remaining() const;
  uint64_t next_lease_id() const { return next_lease_id_; }

  // Internal, naming what is wrong, unless:
  //  * Each example is counted, in one open lease, or remaining. Ranges that
  //    remain do not touch.
  //  * Of an open lease no more is reported than it has, and less than all.
  //  * An open lease has a holder, and no more than may share it. A worker
  //  holds
  //    at most kMaxOpenLeases.
  // For tests; sorts the open leases.
  absl::Status CheckInvariants() const;

 private:
  struct OpenLease {
    v1::Lease lease;
    // By holder, the furthest report.
    std::map<TaskId, LeaseReport> reports;

    // Together.
    int64_t examples() const;
    // Those who share a lease take its steps together.
    int64_t steps() const;
  };

  // Why a report of a holder, who last said `last`, is no possible one.
  absl::Status Check(TaskId worker, const OpenLease& open,
                     const LeaseReport& last, const LeaseReport& report) const;
  // Whether `holder`, or everybody, has done their share of a lease.
  bool IsDone(const OpenLease& open, TaskId holder) const;
  bool IsDone(const OpenLease& open) const;
  // Takes the next range out of what remains.
  v1::Lease NextLease(int64_t batches);
  int64_t StepsIn(int64_t examples) const;
  int64_t RemainingSteps() const;
  void Return(ExampleRange range);
  static void Add(const OpenLease& open, PassTotals& totals);
  // Counts what the reports of a lease say, and returns the rest.
  void Settle(const OpenLease& open);
  absl::Status CheckOpen(uint64_t id, const OpenLease& open) const;
  absl::Status CheckRanges() const;

  Options options_;
  uint64_t next_lease_id_;
  // begin -> end; disjoint, not adjacent.
  std::map<int64_t, int64_t> remaining_;
  std::map<uint64_t, OpenLease> open_;
  // Of leases that are settled.
  PassTotals settled_;
  int64_t steps_total_ = 0;
  int64_t examples_total_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEASE_TABLE_H_
