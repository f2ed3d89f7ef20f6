#include "common/callback/early_stopping.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/object_reader.h"
#include "common/config/field_table.h"
#include "common/config/path.h"
#include "common/limits.h"
#include "nlohmann/json.hpp"

namespace paceline {

using nlohmann::json;

const FieldTable<EarlyStopping>& EarlyStopping::Fields() {
  static const auto& table = *new FieldTable<EarlyStopping>(
      kClassName,
      "Ends training after an epoch once a value no longer gets better.",
      {MonitorField(), MinDeltaField(),
       Optional("patience", &EarlyStopping::patience, AtLeast(0),
                "Epochs without an improvement after which training ends."),
       Optional("verbose", &EarlyStopping::verbose, AtLeast(0),
                "1: says so when it ends training."),
       ModeField(),
       Optional("baseline", &EarlyStopping::baseline,
                "A value that must be reached, too, for an improvement to "
                "count."),
       Optional("restore_best_weights", &EarlyStopping::restore_best_weights,
                "Whether the model gets back the variables of its best epoch "
                "when training ends, early or not. Not together with the "
                "optimizer's `use_ema`."),
       Optional("start_from_epoch", &EarlyStopping::start_from_epoch,
                AtLeast(0), "Epochs at the start that do not count.")});
  return table;
}

absl::Status EarlyStopping::Prepare(const CallbackContext& context,
                                    const Path& path) {
  RETURN_IF_ERROR(MonitorCallback::Prepare(context, path));
  if (!restore_best_weights || !context.has_averages) return absl::OkStatus();
  return ConfigError(path.Key("restore_best_weights"),
                     "got true, but the optimizer has use_ema: true, whose "
                     "averages become the variables when training ends; "
                     "expected one of the two");
}

void EarlyStopping::EpochEnded(EpochEnd& end, Decision& decision) {
  const std::optional<double> current = ValueIn(end.logs);
  if (!current) {
    WarnOnce(absl::StrCat("Early stopping conditioned on metric `", monitor,
                          "` which is not available. Available metrics are: ",
                          KeysText(end.logs)),
             decision);
    return;
  }
  if (end.epoch < start_from_epoch) return;
  ++wait_;
  if (Improves(*current, best_)) {
    best_ = current;
    if (restore_best_weights) {
      best_epoch_ = end.epoch;
      decision.keeps_model = true;
    }
    if (!baseline || Improves(*current, baseline)) wait_ = 0;
    return;
  }
  if (wait_ >= patience && end.epoch > 0) {
    stopped_epoch_ = end.epoch;
    decision.stops_training = true;
  }
}

void EarlyStopping::TrainingEnded(Decision& decision) {
  if (verbose == 0) return;
  if (stopped_epoch_ > 0) {
    decision.outputs.emplace_back(ShowMessage{
        absl::StrCat("Epoch ", stopped_epoch_ + 1, ": early stopping")});
  }
  if (best_epoch_) {
    decision.outputs.emplace_back(ShowMessage{
        absl::StrCat("Restoring model weights from the end of the best epoch: ",
                     *best_epoch_ + 1, ".")});
  }
}

json EarlyStopping::Save() const {
  json state = {{"best", SaveNumber(best_)}, {"wait", wait_}};
  if (best_epoch_) state["best_epoch"] = *best_epoch_;
  return state;
}

absl::Status EarlyStopping::Restore(const ObjectReader& state) {
  ASSIGN_OR_RETURN(best_, RestoreNumber(state, "best"));
  ASSIGN_OR_RETURN(wait_, state.Count("wait", limits::kMaxSteps));
  // Without it the best model was not kept.
  if (restore_best_weights && state.Has("best_epoch")) {
    ASSIGN_OR_RETURN(
        const int64_t epoch,
        state.Count("best_epoch", std::numeric_limits<int>::max()));
    best_epoch_ = static_cast<int>(epoch);
  }
  return absl::OkStatus();
}

}  // namespace paceline
