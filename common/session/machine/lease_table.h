// The leases of one pass over a data set: which worker processes which
// examples, and what they add up to.
//
// A pass is a set of positions in the epoch's order. A lease is a range of
// positions that begins and ends at batch boundaries. Its size follows guided
// self-scheduling (Polychronopoulos and Kuck, 1987), with the factor 2 of
// factoring (Hummel, Schonberg and Flynn, 1992): a lease takes 1/(2·workers) of
// the remaining batches, at most kMaxLeaseBatches. So leases shrink towards the
// end of the pass, and all workers finish at about the same time.
//
// The life of a lease, where each worker has its own leases:
//
//   remaining ── Grant ──> open ── Report, all examples ──> settled
//       ^                   │ ReturnWhole: all of it
//       └───────────────────┤
//                           │ ReturnRest: the part that no shard applied;
//                           └──> settled: the part that some shard applied
//
// Invariants (CheckInvariants):
//  * Each position is either remaining, in exactly one open lease, or counted.
//  * A worker has at most kMaxOpenLeases open leases: one that it works on,
//    one that it prefetches.
//
// Each example counts once. A report has the totals since the begin of its
// lease, not increments, so repeated, late and reordered reports change
// nothing. A position is counted for good when its lease is settled.
//
// If the metrics have large states (limits::kMaxReportedState), only the last
// report of a lease has them. If a worker is lost before that report, its
// examples count as far as shards applied them, its loss as far as the last
// push with states said, and its metrics not at all.
//
// Under a synchronous strategy all workers share each lease: every worker gets
// all leases in the same order, takes its slice of each global batch, and
// reports its own part. Such leases do not shrink: all workers finish one at
// the same time. The lease is finished when each worker has reported all its
// steps, including steps in which its slice was empty. Workers report at times
// of their own, so of most steps some worker's part is never told. A common
// step is one that each worker has reported: its totals are those of all
// replicas. The last step of a lease is one.
#ifndef PACELINE_COMMON_SESSION_MACHINE_LEASE_TABLE_H_
#define PACELINE_COMMON_SESSION_MACHINE_LEASE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/cluster/task.h"
#include "common/session/machine/lease_report.h"
#include "paceline/v1/coordinator.pb.h"

namespace paceline {

// Batches in a lease, at most; Options::batches_at_once may round it up. Bounds
// how many examples wait until a lost worker is noticed.
inline constexpr int64_t kMaxLeaseBatches = 64;
// Leases that a worker may have open.
inline constexpr int kMaxOpenLeases = 2;
// Steps of a shared lease of which reports are kept because not all workers
// have reported them, at most.
inline constexpr size_t kMaxAwaitedSteps = 64;

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
  // Those of `examples` that `on_error: skip` left out.
  int64_t skipped_examples = 0;
  // The summed states of the loss and of each metric.
  std::vector<double> states;

  // Whether any example contributed: the loss is a mean, whose state has the
  // count of examples.
  bool has_sums() const { return states[1] > 0; }
};

// Not thread-safe. A state machine without I/O.
class LeaseTable {
 public:
  struct Options {
    v1::Phase phase = v1::PHASE_TRAIN;
    int epoch = 0;
    int64_t batch_size = 1;
    // A lease has a multiple of this many batches, as long as enough remain, so
    // that a device that takes several batches at once (steps_per_execution)
    // can.
    int64_t batches_at_once = 1;
    // How many workers share each lease. 1: each worker has its own leases.
    int workers_per_lease = 1;
    // Whether CommonTotals is asked for: then reports of shared leases are kept
    // until the step is common or passed. Of a lease these are at most
    // kMaxAwaitedSteps steps, the last ones, each with one report of a worker,
    // of whose states it keeps `reported_size`: at most 256 KiB for each lease
    // and worker, whatever workers send.
    bool finds_common_steps = false;
    // Numbers in the states of the loss and the metrics together.
    size_t state_size = 2;
    // How many of these the reports of open leases need; at most
    // limits::kMaxReportedState. See ReportedSize.
    size_t reported_size = 2;
    // Lease ids are unique in the life of a job; this pass counts on from here.
    uint64_t first_lease_id = 1;
  };

  // A pass over the ranges `remaining`, which must be disjoint. `counted` was
  // done before, by the run that a resume goes on from.
  LeaseTable(const Options& options, absl::Span<const ExampleRange> remaining,
             PassTotals counted);

  // The next lease for `worker`, of at most `max_steps` batches. The size
  // depends on `worker_count`. nullopt: there is no lease for this worker now.
  // A new lease gets `learning_rate`; one that other workers share with this
  // one keeps its own.
  std::optional<v1::Lease> Grant(
      TaskId worker, int worker_count, int64_t max_steps,
      std::optional<double> learning_rate = std::nullopt);

  // Takes a report of a worker that has the lease. Returns whether the lease is
  // now finished. Reports of leases that are not open, and reports that are not
  // further than the last one, change nothing. InvalidArgument: the report
  // claims more examples or steps than the lease has, is about another worker's
  // lease, or contradicts the worker's last report. `report` has at most
  // Options::state_size states.
  absl::StatusOr<bool> Report(TaskId worker, const LeaseReport& report);

  // The worker is lost, and what it did in its leases does not count
  // (evaluation): its leases go back whole.
  void ReturnWhole(TaskId worker);
  // The worker is lost. `records` are the last reports of its leases that the
  // shards have. The positions that any shard applied are counted, the rest
  // goes back. The states come from the furthest report that has any.
  // InvalidArgument: as for Report.
  absl::Status ReturnRest(TaskId worker, absl::Span<const LeaseReport> records);

  v1::Phase phase() const { return options_.phase; }
  // An open lease of the worker. Null: the worker has no open lease of this id.
  const v1::Lease* Find(TaskId worker, uint64_t lease_id) const;
  // Whether the worker has steps left to take in an open lease.
  bool Holds(TaskId worker) const;
  bool HasOpenLeases() const { return !open_.empty(); }
  // The worker of each open lease, ascending; a worker with two leases is
  // listed twice.
  std::vector<TaskId> Holders() const;
  // Whether every example is counted.
  bool Done() const { return open_.empty() && remaining_.empty(); }

  // Everything counted, including the reports of open leases.
  PassTotals Totals() const;
  // Everything counted up to the last common step, of the states of an open
  // lease only the first `reported_size`. It depends on that step and on the
  // borders of the leases, to the bit, and not on when reports came. A resume
  // within an epoch may have other borders, and so sums in another order. If
  // each worker has its own leases: the same as Totals. Needs
  // Options::finds_common_steps.
  PassTotals CommonTotals() const;
  // Steps of the leases that are finished. Of these all states are known.
  int64_t steps_settled() const { return settled_.steps; }
  // Steps of the open leases that are not reported yet.
  int64_t OpenSteps() const;
  // Steps and examples of the whole pass, including what was counted before.
  int64_t steps_total() const { return steps_total_; }
  int64_t examples_total() const { return examples_total_; }
  // The positions that are neither counted nor leased, ascending.
  std::vector<ExampleRange> Remaining() const;
  uint64_t next_lease_id() const { return next_lease_id_; }

  // Internal, naming the broken invariant, unless:
  //  * Each example is counted, in one open lease, or remaining. Remaining
  //    ranges do not touch each other.
  //  * The reports of an open lease claim no more than it has, and not all of
  //    it.
  //  * An open lease has at least one worker, and at most `workers_per_lease`.
  //    A worker has at most kMaxOpenLeases.
  //  * A common step is reported. At most kMaxAwaitedSteps steps are awaited,
  //    which come after it.
  // For tests; sorts the open leases.
  absl::Status CheckInvariants() const;

 private:
  struct OpenLease {
    v1::Lease lease;
    // By worker, its furthest report.
    std::map<TaskId, LeaseReport> reports;
    // With finds_common_steps, by step: what workers reported of steps after
    // the last common one; and what all reported of that one, if there is any.
    std::map<int64_t, std::map<TaskId, LeaseReport>> awaited;
    std::map<TaskId, LeaseReport> common;

    // Sum over the workers.
    int64_t examples() const;
    // See StepsOf.
    int64_t steps() const;
  };

  // Maximum over the workers: those that share a lease take each step together.
  static int64_t StepsOf(const std::map<TaskId, LeaseReport>& reports);
  // InvalidArgument if `report` is impossible for a worker whose previous
  // report was `last`.
  absl::Status Check(TaskId worker, const OpenLease& open,
                     const LeaseReport& last, const LeaseReport& report) const;
  // Whether `holder`, or every worker of the lease, has done its part.
  bool IsDone(const OpenLease& open, TaskId holder) const;
  bool IsDone(const OpenLease& open) const;
  // Takes the next lease out of the remaining positions.
  v1::Lease NextLease(int64_t batches);
  int64_t StepsIn(int64_t examples) const;
  int64_t RemainingSteps() const;
  void Return(ExampleRange range);
  // Looks for a common step once the worker's report is taken.
  void FindCommonStep(TaskId worker, OpenLease& open) const;
  static void Add(const std::map<TaskId, LeaseReport>& reports,
                  PassTotals& totals);
  // Counts what the reports of a lease claim, and returns the other positions.
  void Settle(const OpenLease& open);
  absl::Status CheckOpen(uint64_t id, const OpenLease& open) const;
  static absl::Status CheckCommon(uint64_t id, const OpenLease& open);
  absl::Status CheckRanges() const;

  Options options_;
  uint64_t next_lease_id_;
  // begin -> end; disjoint and not adjacent.
  std::map<int64_t, int64_t> remaining_;
  std::map<uint64_t, OpenLease> open_;
  // Totals of the settled leases.
  PassTotals settled_;
  int64_t steps_total_ = 0;
  int64_t examples_total_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MACHINE_LEASE_TABLE_H_
