#include "common/session/machine/checkpoint_flow.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "glog/logging.h"
#include "nlohmann/json.hpp"

namespace paceline {

CheckpointFlow::CheckpointFlow(const v1::Job& job, bool has_one)
    : has_policy_(job.has_checkpoint()),
      every_epochs_(job.checkpoint().every_epochs()),
      // A job cannot have more steps than kMaxSteps, so larger values mean
      // "never".
      every_steps_(static_cast<int64_t>(std::min<uint64_t>(
          job.checkpoint().every_steps(), limits::kMaxSteps))),
      has_one_(has_one) {}

int64_t CheckpointFlow::StepsToNext(int64_t steps) const {
  if (!has_policy_ || every_steps_ == 0) {
    return std::numeric_limits<int64_t>::max();
  }
  return (saved_steps_ / every_steps_ + 1) * every_steps_ - steps;
}

bool CheckpointFlow::IsDueAfter(int epochs, int64_t steps) const {
  if (!has_policy_) return false;
  if (every_epochs_ > 0 && epochs % every_epochs_ == 0) return true;
  return StepsToNext(steps) <= 0;
}

bool CheckpointFlow::IsBehind(int64_t steps) const {
  return has_policy_ && saved_steps_ < steps;
}

void CheckpointFlow::Take(const SavedSession& saved,
                          std::vector<CheckpointOutput> saves, bool is_kept,
                          std::vector<Action>& actions) {
  CHECK(!is_writing_);
  saved_steps_ = saved.steps;
  awaits_snapshot_ = true;
  is_writing_ = true;
  writes_final_ = saved.is_final;
  writes_kept_ = is_kept;
  TakeCheckpoint checkpoint;
  checkpoint.step = saved.steps;
  checkpoint.state = std::make_shared<const nlohmann::json>(ToJson(saved));
  checkpoint.saves = std::move(saves);
  checkpoint.is_kept = is_kept;
  actions.emplace_back(std::move(checkpoint));
}

bool CheckpointFlow::SnapshotTaken() {
  return std::exchange(awaits_snapshot_, false);
}

absl::Status CheckpointFlow::Written(const absl::Status& status,
                                     std::vector<Action>& actions) {
  is_writing_ = false;
  has_one_ |= status.ok();
  const bool is_told =
      status.code() == std::exchange(last_code_, status.code());
  if (status.ok()) return status;
  const int64_t before = lost_++;
  if (writes_final_ || writes_kept_) {
    return WithMessage(
        status,
        absl::StrCat(
            writes_final_ ? "the last checkpoint"
                          : "the checkpoint of the best epoch",
            " was not written",
            before > 0 ? absl::StrCat(" (nor ", before, " before it)") : "",
            ": ", status.message(),
            has_one_ ? "; once that is mended, --resume goes on from "
                       "the checkpoint before it"
                     : "; there is no checkpoint to go on from: mend "
                       "that, and start the job again"));
  }
  if (is_told) return absl::OkStatus();
  actions.emplace_back(Notice{absl::StrCat(
      "a checkpoint was not written (",
      has_one_ ? "the one before it stays" : "there is none yet",
      "; training goes on, and its end tells of those that follow): ",
      CodeAndMessage(status))});
  return absl::OkStatus();
}

}  // namespace paceline
