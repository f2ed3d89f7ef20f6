#include "ps_server/aggregator.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "glog/logging.h"
#include "google/protobuf/util/json_util.h"

namespace paceline {
namespace {

constexpr absl::string_view kWorkerEntry = "worker";
constexpr absl::string_view kFencedEntry = "fenced";

template <typename T>
bool ParseNumber(absl::string_view text, int base, T& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc() && stop == end;
}

absl::Status FencedError(const v1::WorkerId& worker) {
  return absl::AbortedError(absl::StrCat(
      "worker-", worker.rank(), " with incarnation ",
      absl::Hex(worker.incarnation()),
      " is fenced: the leader took it for dead and gave its work to others"));
}

Decision Refuse(uint64_t ticket, absl::Status error) {
  return {ticket, Verdict::kRefuse, 0, std::move(error)};
}

absl::Status DamagedEntry(absl::string_view key) {
  return absl::DataLossError(
      absl::StrCat("the record of a worker cannot be read: ", key));
}

}  // namespace

absl::Status Aggregator::Check(const v1::WorkerId& worker,
                               const v1::Progress& progress) const {
  if (worker.incarnation() == 0 || progress.sequence() == 0) {
    return absl::InvalidArgumentError(
        "a push needs the incarnation of its worker and a sequence number");
  }
  return absl::OkStatus();
}

absl::Status Aggregator::CheckNew(const v1::WorkerId& worker,
                                  const Worker& known,
                                  const v1::Pace& pace) const {
  if (options_.consistency == v1::CONSISTENCY_BOUNDED &&
      pace.clock() <= known.clock) {
    return absl::InvalidArgumentError(absl::StrCat(
        "worker-", worker.rank(), " pushes at clock ", pace.clock(),
        "; under bounded staleness expected one above ", known.clock));
  }
  if (options_.consistency != v1::CONSISTENCY_SYNC) return absl::OkStatus();
  if (worker.rank() >= options_.workers) {
    return absl::InvalidArgumentError(
        absl::StrCat("worker-", worker.rank(), " is none of the ",
                     options_.workers, " workers of a synchronous step"));
  }
  if (has_sum_) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the gradients of step ", step_ + 1, " are not applied yet"));
  }
  for (const auto& [key, other] : workers_) {
    if (key.first == worker.rank() && &other != &known && other.held) {
      return absl::FailedPreconditionError(
          absl::StrCat("another process that was worker-", worker.rank(),
                       " has pushed for this step"));
    }
  }
  return absl::OkStatus();
}

std::vector<Decision> Aggregator::HandlePush(uint64_t ticket,
                                             const v1::WorkerId& worker,
                                             const v1::Progress& progress,
                                             const v1::Pace& pace) {
  absl::Status status = Check(worker, progress);
  if (!status.ok()) return {Refuse(ticket, std::move(status))};
  Worker& known = workers_[{worker.rank(), worker.incarnation()}];
  if (known.is_fenced) return {Refuse(ticket, FencedError(worker))};
  // What came late is answered; nobody awaits that any more.
  if (progress.sequence() < known.sequence()) return {Answer(ticket)};
  std::vector<Decision> decisions;
  if (known.held) {
    decisions.push_back(
        Refuse(*std::exchange(known.held, ticket),
               absl::AbortedError("the worker sent another push")));
    if (progress.sequence() == known.sequence()) return decisions;
  } else if (progress.sequence() == known.sequence()) {
    return {Answer(ticket)};
  }
  status = CheckNew(worker, known, pace);
  if (!status.ok()) {
    decisions.push_back(Refuse(ticket, std::move(status)));
    return decisions;
  }
  switch (options_.consistency) {
    case v1::CONSISTENCY_SYNC:
      known.held = ticket;
      known.held_progress = progress;
      SumUp(decisions);
      break;
    case v1::CONSISTENCY_BOUNDED:
      Apply(ticket, progress, known, decisions);
      known.held = ticket;
      known.clock = pace.clock();
      known.is_active = !pace.pauses();
      AnswerNear(decisions);
      break;
    default:
      Apply(ticket, progress, known, decisions);
      decisions.push_back(Answer(ticket));
  }
  return decisions;
}

Decision Aggregator::Answer(uint64_t ticket) const {
  return {ticket, Verdict::kAnswer, step_ + (has_sum_ ? 1 : 0), {}};
}

void Aggregator::Apply(uint64_t ticket, const v1::Progress& progress,
                       Worker& worker, std::vector<Decision>& decisions) {
  decisions.push_back({ticket, Verdict::kApply, step_++, {}});
  worker.last = progress;
}

void Aggregator::SumUp(std::vector<Decision>& decisions) {
  // In the order of ranks, as the map is.
  std::vector<Worker*> held;
  for (auto& [key, worker] : workers_) {
    if (worker.held_progress) held.push_back(&worker);
  }
  if (held.size() < options_.workers) return;
  for (Worker* worker : held) {
    worker->last = *std::exchange(worker->held_progress, std::nullopt);
    decisions.push_back({*worker->held, Verdict::kAdd, step_, {}});
  }
  if (options_.applies_apart) {
    has_sum_ = true;
  } else {
    decisions.push_back({0, Verdict::kApplySum, step_++, {}});
  }
  for (Worker* worker : held) {
    decisions.push_back(Answer(*std::exchange(worker->held, std::nullopt)));
  }
}

absl::StatusOr<std::vector<Decision>> Aggregator::HandleApply(int64_t step) {
  if (step <= step_) return std::vector<Decision>();
  if (!has_sum_ || step > step_ + 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("there are no gradients to apply as step ", step,
                     "; the chunk is at step ", step_));
  }
  has_sum_ = false;
  return std::vector<Decision>{{0, Verdict::kApplySum, step_++, {}}};
}

std::optional<uint64_t> Aggregator::SlowestClock(const Worker* except) const {
  std::optional<uint64_t> slowest;
  for (const auto& [key, worker] : workers_) {
    if (!worker.is_active || &worker == except) continue;
    slowest = std::min(slowest.value_or(worker.clock), worker.clock);
  }
  return slowest;
}

void Aggregator::AnswerNear(std::vector<Decision>& decisions) {
  const std::optional<uint64_t> slowest = SlowestClock();
  for (auto& [key, worker] : workers_) {
    if (!worker.held) continue;
    if (slowest && worker.clock > *slowest + options_.max_staleness) continue;
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
  Worker& known = workers_[{worker.rank(), worker.incarnation()}];
  if (known.is_fenced) return FencedError(worker);
  // One that joins twice keeps the clock it was told.
  if (known.is_active || sequence < known.sequence()) return known.clock;
  known.clock = std::max(known.clock, SlowestClock(&known).value_or(0));
  known.is_active = true;
  return known.clock;
}

Aggregator::Fenced Aggregator::Fence(const v1::WorkerId& worker) {
  Worker& known = workers_[{worker.rank(), worker.incarnation()}];
  known.is_fenced = true;
  known.is_active = false;
  known.held_progress.reset();
  Fenced fenced;
  if (known.held) {
    fenced.decisions.push_back(
        Refuse(*std::exchange(known.held, std::nullopt), FencedError(worker)));
  }
  if (options_.consistency == v1::CONSISTENCY_BOUNDED) {
    AnswerNear(fenced.decisions);
  }
  if (known.last.sequence() > 0) {
    *fenced.response.mutable_progress() = known.last;
  }
  return fenced;
}

std::map<std::string, std::string> Aggregator::Save() const {
  std::map<std::string, std::string> saved;
  for (const auto& [key, worker] : workers_) {
    const std::string name =
        absl::StrCat(key.first, "/", absl::Hex(key.second));
    if (worker.is_fenced) saved[absl::StrCat(kFencedEntry, "/", name)] = "";
    std::string& progress = saved[absl::StrCat(kWorkerEntry, "/", name)];
    const auto written =
        google::protobuf::util::MessageToJsonString(worker.last, &progress);
    CHECK(written.ok()) << written;
  }
  return saved;
}

absl::StatusOr<Aggregator> Aggregator::Restore(
    int64_t step, const std::map<std::string, std::string>& saved,
    AggregatorOptions options) {
  Aggregator aggregator(step, options);
  for (const auto& [key, value] : saved) {
    const std::vector<absl::string_view> fields = absl::StrSplit(key, '/');
    if (fields[0] != kWorkerEntry && fields[0] != kFencedEntry) continue;
    uint32_t rank = 0;
    uint64_t incarnation = 0;
    if (fields.size() != 3 || !ParseNumber(fields[1], 10, rank) ||
        !ParseNumber(fields[2], 16, incarnation)) {
      return DamagedEntry(key);
    }
    Worker& worker = aggregator.workers_[{rank, incarnation}];
    if (fields[0] == kFencedEntry) {
      worker.is_fenced = true;
    } else if (!google::protobuf::util::JsonStringToMessage(value, &worker.last)
                    .ok()) {
      return DamagedEntry(key);
    }
  }
  return aggregator;
}

}  // namespace paceline
