#include "ps_server/aggregator.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/optimizer/learning_rate.h"

namespace paceline {
namespace {

absl::Status FencedError(const v1::WorkerId& worker) {
  return absl::AbortedError(absl::StrCat(
      "this process of worker-", worker.rank(),
      " is fenced: the leader took it for dead and gave its work to others"));
}

absl::Status NotAdmittedError(const v1::WorkerId& worker) {
  return absl::FailedPreconditionError(
      absl::StrCat("this process of worker-", worker.rank(),
                   " was not admitted by the leader"));
}

// The chunk keeps reports, so their size must be bounded. InvalidArgument
// unless the report has as many states as the job's reports, or none (early
// push). Without states it must not name a non-finite step either: the loss of
// an early push is not known yet.
absl::Status CheckStates(const v1::LeaseReport& report, size_t state_size) {
  const auto size = static_cast<size_t>(report.sums().states_size());
  if (size == 0 && report.first_nonfinite_step() > 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a report of lease ", report.lease_id(), " without sums has ",
        report.first_nonfinite_step(), " as first_nonfinite_step; expected 0"));
  }
  if (size == state_size || size == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a report of lease ", report.lease_id(), " has ", size,
                   " numbers of the loss and the metrics; expected ",
                   state_size, ", or none"));
}

std::string RateText(std::optional<double> learning_rate) {
  return learning_rate ? absl::StrCat(*learning_rate) : "none";
}

absl::Status CheckRate(const v1::WorkerId& worker,
                       std::optional<double> learning_rate) {
  if (!learning_rate || IsLearningRate(*learning_rate)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("learning_rate: ", *learning_rate, " of worker-",
                   worker.rank(), "; expected ", kLearningRates));
}

// The part of a progress that the chunk keeps. Unknown fields are dropped,
// since peers could make them large.
v1::Progress Kept(const v1::Progress& progress) {
  v1::Progress kept = progress;
  kept.DiscardUnknownFields();
  return kept;
}

PushDecision Refuse(uint64_t ticket, absl::Status error) {
  return {ticket, Verdict::kRefuse, 0, std::move(error)};
}

}  // namespace

absl::Status Aggregator::Admit(const v1::WorkerId& worker) {
  return workers_.Admit(worker);
}

absl::Status Aggregator::Check(const v1::WorkerId& worker, const Worker* known,
                               const v1::Progress& progress) const {
  if (worker.incarnation() == 0 || progress.sequence() == 0) {
    return absl::InvalidArgumentError(
        "a push needs the incarnation of its worker and a sequence number");
  }
  if (known == nullptr) return NotAdmittedError(worker);
  if (known->is_fenced) return FencedError(worker);
  absl::Status status = CheckStates(progress.lease(), options_.state_size);
  status.Update(CheckStates(progress.previous(), options_.state_size));
  return status;
}

absl::Status Aggregator::CheckClock(const v1::WorkerId& worker,
                                    const Worker& known, uint64_t clock) const {
  const uint64_t most = static_cast<uint64_t>(step_) + workers_.count();
  if (clock > known.clock && clock <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "worker-", worker.rank(), " pushes at clock ", clock,
      "; under bounded staleness expected one above ", known.clock,
      ", and at most ", most, ", which all workers together can have reached"));
}

absl::Status Aggregator::CheckNew(const v1::WorkerId& worker,
                                  const Worker& known,
                                  const v1::WorkerClock& clock,
                                  std::optional<double> learning_rate) const {
  RETURN_IF_ERROR(CheckRate(worker, learning_rate));
  switch (options_.consistency) {
    case v1::CONSISTENCY_BOUNDED:
      return CheckClock(worker, known, clock.steps());
    case v1::CONSISTENCY_SYNC:
      return CheckStep(worker, known, learning_rate);
    default:
      return absl::OkStatus();
  }
}

absl::Status Aggregator::CheckStep(const v1::WorkerId& worker,
                                   const Worker& known,
                                   std::optional<double> learning_rate) const {
  if (has_sum_) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the gradients of step ", step_ + 1, " are not applied yet"));
  }
  for (const auto& [key, other] : workers_.all()) {
    if (&other == &known || !other.held) continue;
    if (key.first == worker.rank()) {
      return absl::FailedPreconditionError(
          absl::StrCat("another process of worker-", worker.rank(),
                       " has already pushed for this step"));
    }
    if (other.held_learning_rate != learning_rate) {
      return absl::FailedPreconditionError(absl::StrCat(
          "learning_rate: ", RateText(learning_rate), " of worker-",
          worker.rank(), "; expected ", RateText(other.held_learning_rate),
          ", with which worker-", key.first, " has pushed for this step"));
    }
  }
  return absl::OkStatus();
}

std::vector<PushDecision> Aggregator::HandlePush(
    uint64_t ticket, const v1::WorkerId& worker, const v1::Progress& progress,
    const v1::WorkerClock& clock, std::optional<double> learning_rate) {
  Worker* const found = workers_.Find(worker);
  absl::Status status = Check(worker, found, progress);
  if (!status.ok()) return {Refuse(ticket, std::move(status))};
  Worker& known = *found;
  // A late copy of an old push: any answer will do, since its sender no longer
  // waits for one.
  if (progress.sequence() < known.sequence()) return {Answer(ticket)};
  const bool is_repeat = progress.sequence() == known.sequence();
  if (is_repeat && !known.held) return {Answer(ticket)};
  // A push that is refused changes nothing, not even the push that is held.
  if (!is_repeat) status = CheckNew(worker, known, clock, learning_rate);
  if (!status.ok()) return {Refuse(ticket, std::move(status))};
  std::vector<PushDecision> decisions;
  if (known.held) {
    decisions.push_back(
        Refuse(*std::exchange(known.held, ticket),
               absl::AbortedError("the worker sent another push")));
  }
  if (is_repeat) return decisions;
  switch (options_.consistency) {
    case v1::CONSISTENCY_SYNC:
      known.held = ticket;
      known.held_progress = Kept(progress);
      known.held_learning_rate = learning_rate;
      SumUp(decisions);
      break;
    case v1::CONSISTENCY_BOUNDED:
      Apply(ticket, progress, learning_rate, known, decisions);
      known.held = ticket;
      known.idle_since.reset();
      known.clock = clock.steps();
      known.is_active = !clock.pauses();
      known.has_lapsed = false;
      AnswerNear(decisions);
      break;
    default:
      Apply(ticket, progress, learning_rate, known, decisions);
      decisions.push_back(Answer(ticket));
  }
  return decisions;
}

PushDecision Aggregator::Answer(uint64_t ticket) const {
  return {ticket, Verdict::kAnswer, step_ + (has_sum_ ? 1 : 0), {}};
}

void Aggregator::Apply(uint64_t ticket, const v1::Progress& progress,
                       std::optional<double> learning_rate, Worker& worker,
                       std::vector<PushDecision>& decisions) {
  decisions.push_back({ticket, Verdict::kApply, step_++, {}, learning_rate});
  worker.RecordApplied(Kept(progress));
}

PushDecision Aggregator::ApplySum() {
  return {0, Verdict::kApplySum, step_++, {}, sum_learning_rate_};
}

void Aggregator::SumUp(std::vector<PushDecision>& decisions) {
  // The map is sorted by rank, and so are the held pushes: floating-point sums
  // need a fixed order to give the same bits.
  std::vector<Worker*> held;
  for (auto& [key, worker] : workers_.all()) {
    if (worker.held_progress) held.push_back(&worker);
  }
  if (held.size() < options_.workers) return;
  for (Worker* worker : held) {
    worker->RecordApplied(*std::exchange(worker->held_progress, std::nullopt));
    decisions.push_back({*worker->held, Verdict::kAdd, step_, {}});
  }
  sum_learning_rate_ = held.front()->held_learning_rate;
  if (options_.applies_apart) {
    has_sum_ = true;
  } else {
    decisions.push_back(ApplySum());
  }
  for (Worker* worker : held) {
    decisions.push_back(Answer(*std::exchange(worker->held, std::nullopt)));
  }
}

absl::StatusOr<std::vector<PushDecision>> Aggregator::HandleApply(
    int64_t step) {
  if (step <= step_) return std::vector<PushDecision>();
  if (!has_sum_ || step > step_ + 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("there are no gradients to apply as step ", step,
                     "; the chunk is at step ", step_));
  }
  has_sum_ = false;
  return std::vector<PushDecision>{ApplySum()};
}

std::optional<uint64_t> Aggregator::SlowestClock(const Worker* except) const {
  std::optional<uint64_t> slowest;
  for (const auto& [key, worker] : workers_.all()) {
    if (!worker.is_active || &worker == except) continue;
    slowest = std::min(slowest.value_or(worker.clock), worker.clock);
  }
  return slowest;
}

void Aggregator::AnswerNear(std::vector<PushDecision>& decisions) {
  const std::optional<uint64_t> slowest = SlowestClock();
  for (auto& [key, worker] : workers_.all()) {
    if (!worker.held) continue;
    if (slowest && worker.clock > *slowest &&
        worker.clock - *slowest > options_.max_staleness) {
      continue;
    }
    decisions.push_back(Answer(*std::exchange(worker.held, std::nullopt)));
  }
}

absl::StatusOr<uint64_t> Aggregator::Join(const v1::WorkerId& worker,
                                          uint64_t sequence) {
  if (options_.consistency != v1::CONSISTENCY_BOUNDED ||
      worker.incarnation() == 0) {
    return absl::InvalidArgumentError(
        "a worker joins with its incarnation, under bounded staleness");
  }
  Worker* const known = workers_.Find(worker);
  if (known == nullptr) return NotAdmittedError(worker);
  if (known->is_fenced) return FencedError(worker);
  // A worker that joins twice keeps its clock. A join that was sent before the
  // worker's last push came late and changes nothing.
  if (known->is_active || sequence < known->sequence()) return known->clock;
  known->clock = std::max(known->clock, SlowestClock(known).value_or(0));
  known->is_active = !known->has_lapsed;
  known->idle_since.reset();
  return known->clock;
}

Aggregator::Fenced Aggregator::Fence(const v1::WorkerId& worker) {
  Fenced fenced;
  Worker* const known = workers_.Fence(worker);
  if (known == nullptr) return fenced;
  known->is_active = false;
  known->held_progress.reset();
  if (known->held) {
    fenced.decisions.push_back(
        Refuse(*std::exchange(known->held, std::nullopt), FencedError(worker)));
  }
  if (options_.consistency == v1::CONSISTENCY_BOUNDED) {
    AnswerNear(fenced.decisions);
  }
  if (known->last.sequence() > 0) {
    *fenced.response.mutable_progress() = known->last;
  }
  if (known->last_summed().sequence() > 0) {
    *fenced.response.mutable_summed() = known->last_summed();
  }
  return fenced;
}

Aggregator::Lapsed Aggregator::HandleTime(absl::Time now) {
  Lapsed lapsed;
  if (options_.consistency != v1::CONSISTENCY_BOUNDED) return lapsed;
  for (auto& [key, worker] : workers_.all()) {
    if (!worker.is_active || worker.held) {
      worker.idle_since.reset();
      continue;
    }
    if (!worker.idle_since) worker.idle_since = now;
    if (now - *worker.idle_since < options_.patience) continue;
    worker.is_active = false;
    worker.has_lapsed = true;
    lapsed.workers.push_back(key.first);
  }
  if (!lapsed.workers.empty()) AnswerNear(lapsed.decisions);
  return lapsed;
}

absl::string_view Aggregator::Fault(const Worker& worker,
                                    std::optional<uint64_t> slowest) const {
  const bool is_sync = options_.consistency == v1::CONSISTENCY_SYNC;
  const bool is_bounded = options_.consistency == v1::CONSISTENCY_BOUNDED;
  if (worker.is_fenced && (worker.held || worker.is_active)) {
    return "is fenced, but its push is held or others wait for it";
  }
  if (worker.held_progress.has_value() != (is_sync && worker.held)) {
    return "has a push that is held and applied, or neither";
  }
  if (worker.held_progress &&
      worker.held_progress->sequence() <= worker.last.sequence()) {
    return "has a push that is held again";
  }
  if (is_sync) return "";
  if (!is_bounded) return worker.held || worker.is_active ? "waits" : "";
  if (worker.is_active && worker.has_lapsed) return "lapsed, but is active";
  if (worker.clock > static_cast<uint64_t>(step_) + workers_.count()) {
    return "is ahead of the job";
  }
  if (worker.held && (!slowest || worker.clock <= *slowest ||
                      worker.clock - *slowest <= options_.max_staleness)) {
    return "is near the slowest worker, but its push is held";
  }
  return "";
}

absl::Status Aggregator::CheckInvariants() const {
  RETURN_IF_ERROR(workers_.CheckInvariants());
  const std::optional<uint64_t> slowest = SlowestClock();
  std::optional<uint32_t> last_held;
  uint32_t held = 0;
  for (const auto& [key, worker] : workers_.all()) {
    const absl::string_view fault = Fault(worker, slowest);
    if (!fault.empty()) {
      return absl::InternalError(
          absl::StrCat("worker-", key.first, "/", key.second, " ", fault));
    }
    if (!worker.held_progress) continue;
    if (last_held == key.first) {
      return absl::InternalError(
          absl::StrCat("two pushes of worker-", key.first, " are held"));
    }
    last_held = key.first;
    ++held;
  }
  if (held >= options_.workers || (has_sum_ && held > 0) ||
      (has_sum_ && !options_.applies_apart)) {
    return absl::InternalError(absl::StrCat(held, " pushes of ",
                                            options_.workers, " are held",
                                            has_sum_ ? ", beside a sum" : ""));
  }
  return absl::OkStatus();
}

absl::StatusOr<Aggregator> Aggregator::Restore(
    int64_t step, const std::map<std::string, std::string>& saved,
    AggregatorOptions options) {
  Aggregator aggregator(step, options);
  RETURN_IF_ERROR(aggregator.workers_.Restore(saved));
  return aggregator;
}

}  // namespace paceline
