#include "ps_server/aggregator.h"

#include <charconv>

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

absl::Status DamagedEntry(absl::string_view key) {
  return absl::DataLossError(
      absl::StrCat("the record of a worker cannot be read: ", key));
}

}  // namespace

std::vector<Decision> Aggregator::HandlePush(uint64_t ticket,
                                             const v1::WorkerId& worker,
                                             const v1::Progress& progress) {
  Decision decision;
  decision.ticket = ticket;
  decision.iterations = step_;
  if (worker.incarnation() == 0 || progress.sequence() == 0) {
    decision.error = absl::InvalidArgumentError(
        "a push needs the incarnation of its worker and a sequence number");
    return {decision};
  }
  Worker& known = workers_[{worker.rank(), worker.incarnation()}];
  if (known.is_fenced) {
    decision.error = absl::AbortedError(absl::StrCat(
        "worker-", worker.rank(), " with incarnation ",
        absl::Hex(worker.incarnation()),
        " is fenced: the leader took it for dead and gave its work to others"));
    return {decision};
  }
  if (progress.sequence() <= known.last.sequence()) {
    decision.verdict = Verdict::kDuplicate;
    return {decision};
  }
  known.last = progress;
  ++step_;
  decision.verdict = Verdict::kApply;
  return {decision};
}

Aggregator::Fenced Aggregator::Fence(const v1::WorkerId& worker) {
  Worker& known = workers_[{worker.rank(), worker.incarnation()}];
  known.is_fenced = true;
  Fenced fenced;
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
    int64_t step, const std::map<std::string, std::string>& saved) {
  Aggregator aggregator(step);
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
