#include "common/session/machine/lease_table.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Positions fit into int64_t, since the leader made the lease itself.
int64_t Size(const v1::Lease& lease) {
  return static_cast<int64_t>(lease.end() - lease.begin());
}

}  // namespace

int64_t LeaseTable::OpenLease::examples() const {
  int64_t sum = 0;
  for (const auto& [holder, report] : reports) sum += report.examples;
  return sum;
}

int64_t LeaseTable::OpenLease::steps() const { return StepsOf(reports); }

int64_t LeaseTable::StepsOf(const std::map<TaskId, LeaseReport>& reports) {
  int64_t steps = 0;
  for (const auto& [holder, report] : reports) {
    steps = std::max(steps, report.steps);
  }
  return steps;
}

LeaseTable::LeaseTable(const Options& options,
                       absl::Span<const ExampleRange> remaining,
                       PassTotals counted)
    : options_(options),
      next_lease_id_(options.first_lease_id),
      settled_(std::move(counted)) {
  settled_.states.resize(options_.state_size);
  examples_total_ = settled_.examples;
  for (const ExampleRange& range : remaining) {
    Return(range);
    examples_total_ += range.end - range.begin;
  }
  steps_total_ = settled_.steps + RemainingSteps();
}

std::optional<v1::Lease> LeaseTable::Grant(
    TaskId worker, int worker_count, int64_t max_steps,
    std::optional<double> learning_rate) {
  int held = 0;
  OpenLease* joined = nullptr;
  for (auto& [id, open] : open_) {
    if (open.reports.contains(worker)) {
      ++held;
    } else if (joined == nullptr && options_.workers_per_lease > 1) {
      joined = &open;
    }
  }
  if (held >= kMaxOpenLeases) return std::nullopt;
  if (joined == nullptr) {
    if (remaining_.empty() || max_steps <= 0) return std::nullopt;
    const int64_t left = std::min(RemainingSteps(), max_steps);
    // Workers that share a lease finish it together, so leases need not shrink
    // towards the end of the pass.
    const int64_t shares =
        options_.workers_per_lease > 1 ? 1 : 2 * std::max(worker_count, 1);
    const int64_t share =
        std::min((left + shares - 1) / shares, kMaxLeaseBatches);
    const int64_t at_once = options_.batches_at_once;
    v1::Lease lease =
        NextLease(std::min((share + at_once - 1) / at_once * at_once, left));
    if (learning_rate) lease.set_learning_rate(*learning_rate);
    joined = &open_[lease.id()];
    joined->lease = lease;
  }
  joined->reports[worker].lease_id = joined->lease.id();
  return joined->lease;
}

v1::Lease LeaseTable::NextLease(int64_t batches) {
  const auto [begin, range_end] = *remaining_.begin();
  const int64_t end =
      std::min(range_end, begin + batches * options_.batch_size);
  remaining_.erase(remaining_.begin());
  if (end < range_end) remaining_.emplace(end, range_end);
  v1::Lease lease;
  lease.set_id(next_lease_id_++);
  lease.set_phase(options_.phase);
  lease.set_epoch(options_.epoch);
  lease.set_begin(begin);
  lease.set_end(end);
  return lease;
}

absl::StatusOr<bool> LeaseTable::Report(TaskId worker,
                                        const LeaseReport& report) {
  const auto it = open_.find(report.lease_id);
  if (it == open_.end()) return false;
  OpenLease& open = it->second;
  const auto own = open.reports.find(worker);
  if (own == open.reports.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("lease ", report.lease_id, " belongs to ",
                     open.reports.begin()->first.ToString(), ", not to ",
                     worker.ToString()));
  }
  LeaseReport& last = own->second;
  RETURN_IF_ERROR(Check(worker, open, last, report));
  if (report.examples <= last.examples && report.steps <= last.steps) {
    return false;
  }
  std::vector<double> known = std::move(last.states);
  last = report;
  if (last.states.empty()) last.states.swap(known);
  if (!IsDone(open)) {
    FindCommonStep(worker, open);
    return false;
  }
  Settle(open);
  open_.erase(it);
  return true;
}

void LeaseTable::FindCommonStep(TaskId worker, OpenLease& open) const {
  if (!options_.finds_common_steps || options_.workers_per_lease == 1) return;
  LeaseReport report = open.reports[worker];
  // It may have more examples of the same step.
  if (report.steps <= StepsOf(open.common)) return;
  if (report.states.size() > options_.reported_size) {
    // A new vector, since a shorter one keeps its memory.
    const auto first = report.states.begin();
    const auto size = static_cast<std::ptrdiff_t>(options_.reported_size);
    report.states = std::vector<double>(first, first + size);
  }
  const auto step = open.awaited.try_emplace(report.steps).first;
  step->second[worker] = std::move(report);
  if (static_cast<int>(step->second.size()) < options_.workers_per_lease) {
    if (open.awaited.size() > kMaxAwaitedSteps) {
      open.awaited.erase(open.awaited.begin());
    }
    return;
  }
  open.common = std::move(step->second);
  open.awaited.erase(open.awaited.begin(), std::next(step));
}

absl::Status LeaseTable::Check(TaskId worker, const OpenLease& open,
                               const LeaseReport& last,
                               const LeaseReport& report) const {
  const int64_t size = Size(open.lease);
  const auto error = [&](const auto&... what) {
    return absl::InvalidArgumentError(
        absl::StrCat(worker.ToString(), " reports ", what...));
  };
  if (report.examples > size - (open.examples() - last.examples)) {
    return error(report.examples, " examples of lease ", report.lease_id,
                 ", which has ", size);
  }
  if (report.steps > StepsIn(size)) {
    return error(report.steps, " steps of lease ", report.lease_id,
                 ", which has ", StepsIn(size));
  }
  if ((report.examples < last.examples && report.steps > last.steps) ||
      (report.examples > last.examples && report.steps < last.steps)) {
    return error(report.examples, " examples in ", report.steps,
                 " steps of lease ", report.lease_id, " after ", last.examples,
                 " in ", last.steps, "; expected both to grow");
  }
  return absl::OkStatus();
}

void LeaseTable::ReturnWhole(TaskId worker) {
  for (auto it = open_.begin(); it != open_.end();) {
    if (it->second.reports.contains(worker)) {
      Return({static_cast<int64_t>(it->second.lease.begin()),
              static_cast<int64_t>(it->second.lease.end())});
      it = open_.erase(it);
    } else {
      ++it;
    }
  }
}

absl::Status LeaseTable::ReturnRest(TaskId worker,
                                    absl::Span<const LeaseReport> records) {
  // Of two reports with equal counts Report takes only the first, so the one
  // with states must come first.
  std::vector<const LeaseReport*> in_order;
  for (const LeaseReport& record : records) in_order.push_back(&record);
  std::sort(in_order.begin(), in_order.end(),
            [](const LeaseReport* a, const LeaseReport* b) {
              return std::make_tuple(a->examples, a->steps, a->states.empty()) <
                     std::make_tuple(b->examples, b->steps, b->states.empty());
            });
  for (const LeaseReport* record : in_order) {
    RETURN_IF_ERROR(Report(worker, *record).status());
  }
  for (auto it = open_.begin(); it != open_.end();) {
    if (!it->second.reports.contains(worker)) {
      ++it;
      continue;
    }
    Settle(it->second);
    it = open_.erase(it);
  }
  return absl::OkStatus();
}

bool LeaseTable::IsDone(const OpenLease& open, TaskId holder) const {
  const auto report = open.reports.find(holder);
  return report != open.reports.end() &&
         report->second.steps >= StepsIn(Size(open.lease));
}

bool LeaseTable::IsDone(const OpenLease& open) const {
  if (options_.workers_per_lease == 1) {
    return open.examples() == Size(open.lease);
  }
  int done = 0;
  for (const auto& [holder, report] : open.reports) {
    done += IsDone(open, holder) ? 1 : 0;
  }
  return done == options_.workers_per_lease;
}

const v1::Lease* LeaseTable::Find(TaskId worker, uint64_t lease_id) const {
  const auto it = open_.find(lease_id);
  return it == open_.end() || !it->second.reports.contains(worker)
             ? nullptr
             : &it->second.lease;
}

bool LeaseTable::Holds(TaskId worker) const {
  return std::any_of(open_.begin(), open_.end(), [&](const auto& entry) {
    const OpenLease& open = entry.second;
    return open.reports.contains(worker) &&
           !(options_.workers_per_lease > 1 && IsDone(open, worker));
  });
}

std::vector<TaskId> LeaseTable::Holders() const {
  std::vector<TaskId> holders;
  for (const auto& [id, open] : open_) {
    for (const auto& [holder, report] : open.reports) holders.push_back(holder);
  }
  std::sort(holders.begin(), holders.end());
  return holders;
}

PassTotals LeaseTable::Totals() const {
  PassTotals totals = settled_;
  for (const auto& [id, open] : open_) Add(open.reports, totals);
  return totals;
}

PassTotals LeaseTable::CommonTotals() const {
  if (options_.workers_per_lease == 1) return Totals();
  PassTotals totals = settled_;
  // Workers take leases by ascending id, so no step is common beyond the first.
  if (!open_.empty()) Add(open_.begin()->second.common, totals);
  return totals;
}

int64_t LeaseTable::OpenSteps() const {
  int64_t steps = 0;
  for (const auto& [id, open] : open_) {
    steps += std::max<int64_t>(0, StepsIn(Size(open.lease)) - open.steps());
  }
  return steps;
}

std::vector<ExampleRange> LeaseTable::Remaining() const {
  std::vector<ExampleRange> ranges;
  ranges.reserve(remaining_.size());
  for (const auto& [begin, end] : remaining_) ranges.push_back({begin, end});
  return ranges;
}

int64_t LeaseTable::StepsIn(int64_t examples) const {
  return (examples + options_.batch_size - 1) / options_.batch_size;
}

int64_t LeaseTable::RemainingSteps() const {
  int64_t steps = 0;
  for (const auto& [begin, end] : remaining_) steps += StepsIn(end - begin);
  return steps;
}

// Adds the range to the remaining ones, and merges it with those that it
// touches.
void LeaseTable::Return(ExampleRange range) {
  if (range.begin == range.end) return;
  auto next = remaining_.lower_bound(range.begin);
  if (next != remaining_.end()) {
    CHECK_LE(range.end, next->first) << "positions returned twice";
    if (next->first == range.end) {
      range.end = next->second;
      next = remaining_.erase(next);
    }
  }
  if (next != remaining_.begin()) {
    const auto previous = std::prev(next);
    CHECK_LE(previous->second, range.begin) << "positions returned twice";
    if (previous->second == range.begin) {
      previous->second = range.end;
      return;
    }
  }
  remaining_.emplace(range.begin, range.end);
}

void LeaseTable::Add(const std::map<TaskId, LeaseReport>& reports,
                     PassTotals& totals) {
  totals.steps += StepsOf(reports);
  for (const auto& [holder, report] : reports) {
    totals.examples += report.examples;
    totals.skipped_examples += report.skipped_examples;
    CHECK_LE(report.states.size(), totals.states.size());
    for (size_t i = 0; i < report.states.size(); ++i) {
      totals.states[i] += report.states[i];
    }
  }
}

void LeaseTable::Settle(const OpenLease& open) {
  Add(open.reports, settled_);
  Return({static_cast<int64_t>(open.lease.begin()) + open.examples(),
          static_cast<int64_t>(open.lease.end())});
}

absl::Status LeaseTable::CheckInvariants() const {
  for (const auto& [id, open] : open_) RETURN_IF_ERROR(CheckOpen(id, open));
  const std::vector<TaskId> holders = Holders();
  for (size_t i = kMaxOpenLeases; i < holders.size(); ++i) {
    if (holders[i] == holders[i - kMaxOpenLeases]) {
      return absl::InternalError(absl::StrCat(holders[i].ToString(),
                                              " holds more than ",
                                              kMaxOpenLeases, " leases"));
    }
  }
  return CheckRanges();
}

absl::Status LeaseTable::CheckOpen(uint64_t id, const OpenLease& open) const {
  const int64_t size = Size(open.lease);
  const auto holders = static_cast<int>(open.reports.size());
  if (open.lease.id() != id || id >= next_lease_id_ || holders < 1 ||
      holders > options_.workers_per_lease) {
    return absl::InternalError(absl::StrCat("lease ", id, " says that it is ",
                                            open.lease.id(), ", and has ",
                                            holders, " holders"));
  }
  if (open.examples() > size || open.steps() > StepsIn(size) || IsDone(open)) {
    return absl::InternalError(
        absl::StrCat("lease ", id, " of ", size, " examples is open, with ",
                     open.examples(), " in ", open.steps(), " steps done"));
  }
  return CheckCommon(id, open);
}

absl::Status LeaseTable::CheckCommon(uint64_t id, const OpenLease& open) {
  const int64_t common = StepsOf(open.common);
  const bool are_between =
      open.awaited.empty() || (open.awaited.begin()->first > common &&
                               open.awaited.rbegin()->first <= open.steps());
  if (common <= open.steps() && are_between &&
      open.awaited.size() <= kMaxAwaitedSteps) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat(
      "lease ", id, " with ", open.steps(), " steps done awaits ",
      open.awaited.size(), " of them after the common step ", common));
}

absl::Status LeaseTable::CheckRanges() const {
  for (auto it = remaining_.begin(); it != remaining_.end(); ++it) {
    if (it != remaining_.begin() && std::prev(it)->second == it->first) {
      return absl::InternalError(
          absl::StrCat("remaining ranges touch at ", it->first));
    }
  }
  std::vector<ExampleRange> ranges = Remaining();
  for (const auto& [id, open] : open_) {
    ranges.push_back({static_cast<int64_t>(open.lease.begin()),
                      static_cast<int64_t>(open.lease.end())});
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const ExampleRange& a, const ExampleRange& b) {
              return a.begin < b.begin;
            });
  int64_t examples = settled_.examples;
  int64_t last = 0;
  for (const ExampleRange& range : ranges) {
    if (range.begin < last || range.end <= range.begin) {
      return absl::InternalError(absl::StrCat("examples [", range.begin, ", ",
                                              range.end,
                                              ") are leased or left twice"));
    }
    last = range.end;
    examples += range.end - range.begin;
  }
  if (examples == examples_total_) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      examples, " examples are counted, leased or left, of ", examples_total_));
}

}  // namespace paceline
