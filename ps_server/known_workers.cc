#include "ps_server/known_workers.h"

#include <charconv>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/limits.h"
#include "glog/logging.h"
#include "google/protobuf/util/json_util.h"

namespace paceline {
namespace {

constexpr absl::string_view kWorkerEntry = "worker";
constexpr absl::string_view kFencedEntry = "fenced";

KnownWorkers::Key KeyOf(const v1::WorkerId& worker) {
  return {worker.rank(), worker.incarnation()};
}

template <typename T>
bool ParseNumber(absl::string_view text, int base, T& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc() && stop == end;
}

absl::Status DamagedEntry(absl::string_view key) {
  return absl::DataLossError(
      absl::StrCat("the record of a worker cannot be read: ", key));
}

bool HasSums(const v1::Progress& progress) {
  return progress.lease().sums().states_size() > 0;
}

// The part of a progress that is saved. All chunks must save the same, so it
// has no sums, which early pushes do not have, and which nobody needs after a
// restart.
v1::Progress WithoutSums(v1::Progress progress) {
  const auto clear = [](v1::LeaseReport& report) {
    report.clear_sums();
    report.clear_first_nonfinite_step();
  };
  if (progress.has_lease()) clear(*progress.mutable_lease());
  if (progress.has_previous()) clear(*progress.mutable_previous());
  return progress;
}

}  // namespace

void KnownWorker::RecordApplied(v1::Progress progress) {
  if (!HasSums(progress) && HasSums(last)) summed_before.Swap(&last);
  last = std::move(progress);
}

const v1::Progress& KnownWorker::last_summed() const {
  return HasSums(last) ? last : summed_before;
}

bool KnownWorkers::MakeRoom(uint32_t rank) {
  int count = 0;
  auto spared = workers_.end();
  for (auto it = workers_.lower_bound({rank, 0});
       it != workers_.end() && it->first.first == rank; ++it) {
    ++count;
    const KnownWorker& worker = it->second;
    if ((worker.is_fenced || worker.is_restored) && !worker.held &&
        (spared == workers_.end() || worker.number < spared->second.number)) {
      spared = it;
    }
  }
  if (count < limits::kMaxKnownProcesses) return true;
  if (spared == workers_.end()) return false;
  workers_.erase(spared);
  return true;
}

KnownWorker* KnownWorkers::Add(const Key& key) {
  if (!MakeRoom(key.first)) return nullptr;
  KnownWorker& worker = workers_[key];
  worker.number = ++count_;
  return &worker;
}

absl::Status KnownWorkers::Admit(const v1::WorkerId& worker) {
  if (worker.incarnation() == 0 || worker.rank() >= ranks_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "worker-", worker.rank(), " cannot be admitted: expected one of ",
        ranks_, " workers, with an incarnation"));
  }
  KnownWorker* known = Find(worker);
  if (known == nullptr) known = Add(KeyOf(worker));
  if (known == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("worker-", worker.rank(),
                     " cannot be admitted: ", limits::kMaxKnownProcesses,
                     " earlier processes of this worker are not fenced"));
  }
  known->is_restored = false;
  return absl::OkStatus();
}

KnownWorker* KnownWorkers::Find(const v1::WorkerId& worker) {
  const auto found = workers_.find(KeyOf(worker));
  return found == workers_.end() ? nullptr : &found->second;
}

KnownWorker* KnownWorkers::Fence(const v1::WorkerId& worker) {
  KnownWorker* known = Find(worker);
  if (known == nullptr && worker.incarnation() != 0 && worker.rank() < ranks_) {
    // Remember the fence, since an Admit of the process may still arrive.
    known = Add(KeyOf(worker));
  }
  if (known != nullptr) known->is_fenced = true;
  return known;
}

std::map<std::string, std::string> KnownWorkers::Save() const {
  std::map<std::string, std::string> saved;
  for (const auto& [key, worker] : workers_) {
    const std::string name =
        absl::StrCat(key.first, "/", absl::Hex(key.second));
    if (worker.is_fenced) saved[absl::StrCat(kFencedEntry, "/", name)] = "";
    if (worker.last.sequence() == 0) continue;
    std::string& progress = saved[absl::StrCat(kWorkerEntry, "/", name)];
    const auto written = google::protobuf::util::MessageToJsonString(
        WithoutSums(worker.last), &progress);
    CHECK(written.ok()) << written;
  }
  return saved;
}

absl::Status KnownWorkers::Restore(
    const std::map<std::string, std::string>& saved) {
  for (const auto& [key, value] : saved) {
    const std::vector<absl::string_view> fields = absl::StrSplit(key, '/');
    if (fields[0] != kWorkerEntry && fields[0] != kFencedEntry) continue;
    Key worker_key;
    if (fields.size() != 3 || !ParseNumber(fields[1], 10, worker_key.first) ||
        !ParseNumber(fields[2], 16, worker_key.second)) {
      return DamagedEntry(key);
    }
    v1::Progress last;
    // Entries written by another version may have more fields.
    google::protobuf::util::JsonParseOptions options;
    options.ignore_unknown_fields = true;
    const bool is_fence = fields[0] == kFencedEntry;
    if (!is_fence &&
        !google::protobuf::util::JsonStringToMessage(value, &last, options)
             .ok()) {
      return DamagedEntry(key);
    }
    if (worker_key.first >= ranks_) continue;
    const auto found = workers_.find(worker_key);
    KnownWorker* const worker =
        found == workers_.end() ? Add(worker_key) : &found->second;
    worker->is_restored = true;
    worker->is_fenced |= is_fence;
    if (!is_fence) worker->last = WithoutSums(std::move(last));
  }
  return absl::OkStatus();
}

absl::Status KnownWorkers::CheckInvariants() const {
  std::optional<uint32_t> rank;
  int count = 0;
  for (const auto& [key, worker] : workers_) {
    if (rank != key.first) count = 0;
    rank = key.first;
    if (key.first >= ranks_ || worker.number < 1 || worker.number > count_ ||
        ++count > limits::kMaxKnownProcesses) {
      return absl::InternalError(absl::StrCat(
          "worker-", key.first, "/", key.second, " is number ", worker.number,
          " of ", count_, ", and ", count, " of its rank"));
    }
  }
  return absl::OkStatus();
}

}  // namespace paceline
