// Decides which pushes a chunk of a shard applies, and when it answers them, as
// a state machine without I/O.
//
// The chunk (ShardChunk) feeds in events (a push, a join, a fence, time) and
// carries out the decisions that come back, in order:
//
//   push ──┬─ not admitted ──────> kRefuse
//          ├─ fenced ────────────> kRefuse
//          ├─ sequence <= last ──> kAnswer; held if the first copy is held
//          └─ else
//              async    kApply, kAnswer
//              bounded  kApply; held until the slowest worker is near, then
//                       kAnswer
//              sync     held until all workers have pushed, then
//                       kAdd … in the order of ranks, kApplySum, kAnswer …
//
// A "held" push is one that has no answer yet, so its worker waits.
//
// async: Hogwild (Niu et al., 2011).
//
// sync: the sum of all workers' gradients is applied as one update. If the
// optimizer clips by the norm of whole variables, and several chunks hold their
// parts, applying takes two phases: each chunk answers with its partial norms,
// the workers add them up, and the first worker that calls HandleApply with the
// total causes kApplySum.
//
// bounded: stale synchronous parallel (Ho et al., 2013). Each worker has a
// clock, the number of its steps. A worker that is more than max_staleness
// ahead of the slowest active worker waits for its answer. A worker is active
// from its join until a push says that it pauses. A worker that pauses may
// itself be held, but it does not count towards staleness. The clock comes with
// the push, so all chunks agree on which worker is the slowest. No chunk holds
// the slowest worker, so there is no deadlock.
//
// A worker counts as active from its join on, even before its first push.
// Otherwise the others could run ahead while it computes its first step. But
// the others wait for at most limits::kStallTimeout, counted from the worker's
// join or last answer. Then the worker lapses: it is inactive until its next
// push, and joining again does not change that. So a worker that joins and
// takes no step cannot stall the others forever. If it has a lease, the leader
// gives it up after the same time. If it has none, the leader cannot know for
// whom the others wait, and waits twice as long for them
// (Session::State::CheckStalls). Workers that are held do not call, so the
// chunk must call HandleTime.
//
// A clock may not exceed the number of steps that all workers together can have
// begun: the steps that the chunk applied, plus one for each process, which may
// be under way or lost. So no worker can advance the clocks of workers that
// join after it beyond what the others can reach.
//
// An incarnation numbers its pushes from 1. The chunk remembers the last number
// applied, also in checkpoints, so it recognises repeats even after a restart.
// Only workers that the leader has admitted can push or join; the chunk
// remembers nothing about others (known_workers.h).
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
  // Apply the push's gradients by the optimizer.
  kApply,
  // Add the push's gradients to the sum.
  kAdd,
  // Apply the sum by the optimizer. This decision has no push.
  kApplySum,
  // Answer the push.
  kAnswer,
  // Answer the push with an error.
  kRefuse,
};

struct PushDecision {
  // The push, by the ticket given to HandlePush; 0 with kApplySum.
  uint64_t ticket = 0;
  Verdict verdict = Verdict::kRefuse;
  // With kApply and kApplySum: logical steps before this update. With kAnswer:
  // logical steps applied so far, including a sum that HandleApply has yet to
  // apply.
  int64_t step = 0;
  // With kRefuse: the error.
  absl::Status error;
  // With kApply and kApplySum: the learning rate in the pushes, if any.
  std::optional<double> learning_rate = std::nullopt;
};

struct AggregatorOptions {
  v1::Consistency consistency = v1::CONSISTENCY_ASYNC;
  // Workers of the job; a synchronous step needs a push of each.
  uint32_t workers = 1;
  // Numbers in a report: MetricLayout::reported_size().
  size_t state_size = 2;
  uint64_t max_staleness = 0;
  // How long the others wait for an active worker that takes no step.
  absl::Duration patience = limits::kStallTimeout;
  // Whether HandleApply applies a sum later, instead of the last push at once.
  bool applies_apart = false;
};

// Not thread-safe; a value.
class Aggregator {
 public:
  // A chunk after `step` logical steps that knows no workers.
  explicit Aggregator(int64_t step = 0, AggregatorOptions options = {})
      : options_(options), step_(step), workers_(options.workers) {}

  // The leader admits a worker's process; see KnownWorkers::Admit.
  absl::Status Admit(const v1::WorkerId& worker);

  // A push arrived. `ticket` must be unique. kRefuse with:
  //  * InvalidArgument if worker, sequence number or clock are missing, the
  //    clock is too large, a report has states, but not as many as the job, or
  //    the learning rate is impossible;
  //  * FailedPrecondition if the worker was not admitted, another process of
  //    its rank has pushed for the step, another worker has pushed for it with
  //    another learning rate, or the last sum waits for HandleApply;
  //  * Aborted if the worker is fenced. A repeat of a held push replaces its
  //    first copy, which is refused with Aborted.
  std::vector<PushDecision> HandlePush(
      uint64_t ticket, const v1::WorkerId& worker, const v1::Progress& progress,
      const v1::WorkerClock& clock = {},
      std::optional<double> learning_rate = {});

  // A worker orders the sum to be applied as logical step `step`. Returns
  // kApplySum, or nothing if the sum was applied before. FailedPrecondition if
  // there is no such sum.
  absl::StatusOr<std::vector<PushDecision>> HandleApply(int64_t step);

  // Under bounded staleness: the worker pulls and will take steps; from now on
  // others wait for it. `sequence` is that of its last push; a call with an
  // older number came late and changes nothing. Returns the worker's clock.
  // FailedPrecondition if it was not admitted; Aborted if it is fenced;
  // InvalidArgument without an incarnation, or under another consistency.
  absl::StatusOr<uint64_t> Join(const v1::WorkerId& worker, uint64_t sequence);

  struct Fenced {
    // The last push that was applied, and the last one with sums, if any.
    v1::FenceResponse response;
    std::vector<PushDecision> decisions;
  };
  // From now on no push of this incarnation is applied. Idempotent.
  Fenced Fence(const v1::WorkerId& worker);

  struct Lapsed {
    // Ranks of workers that lapsed: the others no longer wait for them.
    std::vector<uint32_t> workers;
    std::vector<PushDecision> decisions;
  };
  // Time passed. Under bounded staleness, call it regularly.
  Lapsed HandleTime(absl::Time now);

  // Logical steps applied.
  int64_t step() const { return step_; }

  // The state without `step`, in the format of common/checkpoint/FORMAT.md.
  // Held pushes are not saved.
  std::map<std::string, std::string> Save() const { return workers_.Save(); }
  // See KnownWorkers::Restore.
  static absl::StatusOr<Aggregator> Restore(
      int64_t step, const std::map<std::string, std::string>& saved,
      AggregatorOptions options = {});

  // Internal, naming the worker, unless KnownWorkers keeps its own invariants,
  // and:
  //  * A fenced worker has no held push, and is not active.
  //  * async: no push is held.
  //  * bounded: a held push is more than max_staleness ahead of the slowest
  //    active worker; no clock is too large; a lapsed worker is not active.
  //  * sync: held pushes are not applied; each rank has at most one of them,
  //    and not all ranks have one; no push is held while a sum waits for
  //    HandleApply.
  // For tests; takes time in proportion to the known workers.
  absl::Status CheckInvariants() const;

 private:
  using Worker = KnownWorker;

  PushDecision Answer(uint64_t ticket) const;
  // The error of a push regardless of its sequence number; OK if there is none.
  absl::Status Check(const v1::WorkerId& worker, const Worker* known,
                     const v1::Progress& progress) const;
  // The same for a push that is no repeat.
  absl::Status CheckNew(const v1::WorkerId& worker, const Worker& known,
                        const v1::WorkerClock& clock,
                        std::optional<double> learning_rate) const;
  // The same for a push of a synchronous step.
  absl::Status CheckStep(const v1::WorkerId& worker, const Worker& known,
                         std::optional<double> learning_rate) const;
  absl::Status CheckClock(const v1::WorkerId& worker, const Worker& known,
                          uint64_t clock) const;
  void Apply(uint64_t ticket, const v1::Progress& progress,
             std::optional<double> learning_rate, Worker& worker,
             std::vector<PushDecision>& decisions);
  PushDecision ApplySum();
  // If all workers' pushes are held, sums them up and answers them.
  void SumUp(std::vector<PushDecision>& decisions);
  // Answers held pushes that are no longer too far ahead.
  void AnswerNear(std::vector<PushDecision>& decisions);
  // The smallest clock of the active workers other than `except`; nullopt if
  // there are none.
  std::optional<uint64_t> SlowestClock(const Worker* except = nullptr) const;
  // The invariant that a worker breaks; "" if none.
  absl::string_view Fault(const Worker& worker,
                          std::optional<uint64_t> slowest) const;

  AggregatorOptions options_;
  int64_t step_;
  // Whether a sum waits for HandleApply, and the learning rate of the last sum.
  bool has_sum_ = false;
  std::optional<double> sum_learning_rate_;
  KnownWorkers workers_;
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_AGGREGATOR_H_
