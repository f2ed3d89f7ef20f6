// Which pushes a chunk of a shard applies, and when it answers them, as a state
// machine without I/O.
//
// The chunk tells what happens (a push came, a worker joins or is fenced) and
// carries out the decisions that come back, in their order:
//
//   push ──┬─ not admitted ──────> kRefuse
//          ├─ fenced ────────────> kRefuse
//          ├─ sequence <= last ──> kAnswer, or held where its first copy is
//          └─ else
//              async    kApply, kAnswer
//              bounded  kApply, held; kAnswer once the slowest is near enough
//              sync     held; when the last of all workers' has come
//                       kAdd … in the order of ranks, kApplySum, kAnswer …
//
// Where the sum is to be clipped by its norm, which several chunks hold parts
// of, it is applied apart: the answers carry each chunk's norms, the workers
// add them up, and the first that comes back with the total has the sum
// applied.
//
// async: Hogwild (Niu et al., 2011). bounded: stale synchronous parallel (Ho et
// al., 2013): each worker has a clock, the steps it took; whoever is more than
// max_staleness ahead of the slowest active worker waits for the variables of
// its next step. A worker is active from when it joins until its push says that
// it pauses; a pausing one is held as others are, but holds nobody. The clock
// comes with the push, so that all chunks agree on who is the slowest: that one
// is held nowhere, so there is no deadlock.
//
// A join counts at once, before the first push: the others must not run away
// while the worker computes on what it pulled. But a worker is waited for only
// as long as a step may take (limits::kStallTimeout) from its join or its last
// answer on; then the others go on, until it pushes again. So one that joins
// and takes no steps stalls nobody for good. If it holds a lease, the leader
// takes it for stuck at the same time; if it holds none, the leader could not
// know whom the others wait for, and is patient with them for twice as long
// (Session::State::CheckStalls). Joining again gains no further patience: one
// that lapsed is waited for once it has pushed. The chunk is told the time, by
// HandleTime, for while all are held nobody calls.
//
// A clock is believed up to the steps that all workers together can have begun:
// those that the chunk applied, and one of each process, which may be under way
// or lost. So nobody's clock takes others to where they cannot go on from.
//
// A worker's incarnation numbers its pushes from 1. The last one applied is
// remembered, also in checkpoints, so that a repeat is recognised whatever
// happened in between. Only workers that the leader admitted push or join; of
// others nothing is remembered (known_workers.h).
#ifndef PACELINE_PS_SERVER_AGGREGATOR_H_
#define PACELINE_PS_SERVER_AGGREGATOR_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/limits.h"
#include "paceline/v1/ps.pb.h"
#include "ps_server/known_workers.h"

namespace paceline {

enum class Verdict {
  // The optimizer is to apply the gradients.
  kApply,
  // The gradients are to be added to the sum.
  kAdd,
  // The optimizer is to apply the sum. No push belongs to it.
  kApplySum,
  // The push is answered.
  kAnswer,
  // The push is answered with an error.
  kRefuse,
};

struct Decision {
  // Which push, as HandlePush was told; 0 with kApplySum.
  uint64_t ticket = 0;
  Verdict verdict = Verdict::kRefuse;
  // With kApply and kApplySum: logical steps before it. With kAnswer: those
  // applied so far, and the sum's that is to be applied apart.
  int64_t step = 0;
  // With kRefuse: the error.
  absl::Status error;
};

struct AggregatorOptions {
  v1::Consistency consistency = v1::CONSISTENCY_ASYNC;
  // Of the job; those of a synchronous step.
  uint32_t workers = 1;
  // Numbers in a report, as MetricLayout::reported_size().
  size_t state_size = 2;
  uint64_t max_staleness = 0;
  // For how long a worker that takes no step is waited for.
  absl::Duration patience = limits::kStallTimeout;
  // Whether a sum is applied by HandleApply, and not at once.
  bool applies_apart = false;
};

// Not thread-safe; a value.
class Aggregator {
 public:
  // After `step` logical steps, and nothing known of any worker.
  explicit Aggregator(int64_t step = 0, AggregatorOptions options = {})
      : options_(options), step_(step), workers_(options.workers) {}

  // The leader names a worker's process. As KnownWorkers::Admit.
  absl::Status Admit(const v1::WorkerId& worker);

  // A push came. `ticket` is unique. kRefuse with InvalidArgument if worker,
  // sequence number or clock are missing, the clock is ahead of the job, or a
  // report has more or fewer states than the job, but some; FailedPrecondition
  // if the worker was not admitted, the step has this rank's push or waits for
  // HandleApply; Aborted if the worker is fenced, or sends a held push again
  // (the first copy is refused).
  std::vector<Decision> HandlePush(uint64_t ticket, const v1::WorkerId& worker,
                                   const v1::Progress& progress,
                                   const v1::WorkerClock& clock = {});

  // A worker asks that the sum be applied as logical step `step`. kApplySum if
  // it is to be now, nothing if it was before. FailedPrecondition if there is
  // no such sum.
  absl::StatusOr<std::vector<Decision>> HandleApply(int64_t step);

  // Under bounded staleness: the worker pulls and goes on to take steps; from
  // now on others wait for it. `sequence` is that of its last push: a message
  // that is older than what the chunk knows changes nothing. Returns the
  // worker's clock. FailedPrecondition if it was not admitted; Aborted if it is
  // fenced; InvalidArgument without an incarnation, or under another
  // consistency.
  absl::StatusOr<uint64_t> Join(const v1::WorkerId& worker, uint64_t sequence);

  struct Fenced {
    // Of the last push applied, if there was one.
    v1::FenceResponse response;
    std::vector<Decision> decisions;
  };
  // No push of this incarnation is applied from now on. Idempotent.
  Fenced Fence(const v1::WorkerId& worker);

  struct Lapsed {
    // Ranks of workers that nobody waits for any more.
    std::vector<uint32_t> workers;
    std::vector<Decision> decisions;
  };
  // Under bounded staleness, to be called regularly: time passed.
  Lapsed HandleTime(absl::Time now);

  // Logical steps applied.
  int64_t step() const { return step_; }

  // The state but for `step`, as common/checkpoint/FORMAT.md has it. Held
  // pushes are not part of it.
  std::map<std::string, std::string> Save() const { return workers_.Save(); }
  // As KnownWorkers::Restore.
  static absl::StatusOr<Aggregator> Restore(
      int64_t step, const std::map<std::string, std::string>& saved,
      AggregatorOptions options = {});

  // Internal, naming the worker, unless KnownWorkers keep their own, and:
  //  * Of a fenced worker nothing is held, and nobody waits for it.
  //  * async: nothing is held.
  //  * bounded: what is held is further ahead of the slowest active worker than
  //    max_staleness; no clock is ahead of the job; who lapsed is not active.
  //  * sync: what is held is not applied; each rank has one push of a step at
  //    most, and not all have; none while a sum is to be applied.
  // For tests; takes time in proportion to the workers that are known.
  absl::Status CheckInvariants() const;

 private:
  using Worker = KnownWorker;

  Decision Answer(uint64_t ticket) const;
  // Why a push of any sequence number cannot be taken; OK if it can.
  absl::Status Check(const v1::WorkerId& worker, const Worker* known,
                     const v1::Progress& progress) const;
  // The same for one that is no repeat.
  absl::Status CheckNew(const v1::WorkerId& worker, const Worker& known,
                        const v1::WorkerClock& clock) const;
  absl::Status CheckClock(const v1::WorkerId& worker, const Worker& known,
                          uint64_t clock) const;
  void Apply(uint64_t ticket, const v1::Progress& progress, Worker& worker,
             std::vector<Decision>& decisions);
  // Sums up and answers what is held, if all workers' pushes are.
  void SumUp(std::vector<Decision>& decisions);
  // Answers those that are no longer too far ahead.
  void AnswerNear(std::vector<Decision>& decisions);
  // Of the slowest active worker but `except`; nullopt if there is none.
  std::optional<uint64_t> SlowestClock(const Worker* except = nullptr) const;
  // What is wrong with a worker, or nothing.
  absl::string_view Fault(const Worker& worker,
                          std::optional<uint64_t> slowest) const;

  AggregatorOptions options_;
  int64_t step_;
  // Whether there is a sum to be applied apart.
  bool has_sum_ = false;
  KnownWorkers workers_;
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_AGGREGATOR_H_
