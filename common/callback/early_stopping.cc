#include "common/callback/early_stopping.h"

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/object_reader.h"
#include "common/config/field_table.h"
#include "common/limits.h"
#include "nlohmann/json.hpp"

namespace paceline {

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
       Only("restore_best_weights", false,
            "Whether the model gets back the variables of its best epoch."),
       Optional("start_from_epoch", &EarlyStopping::start_from_epoch,
                AtLeast(0), "Epochs at the start that do not count.")});
  return table;
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
    if (!baseline || Improves(*current, baseline)) wait_ = 0;
    return;
  }
  if (wait_ >= patience && end.epoch > 0) {
    stopped_epoch_ = end.epoch;
    decision.stops_training = true;
  }
}

void EarlyStopping::TrainingEnded(Decision& decision) {
  if (stopped_epoch_ == 0 || verbose == 0) return;
  decision.outputs.emplace_back(ShowMessage{
      absl::StrCat("Epoch ", stopped_epoch_ + 1, ": early stopping")});
}

nlohmann::json EarlyStopping::Save() const {
  return {{"best", SaveNumber(best_)}, {"wait", wait_}};
}

absl::Status EarlyStopping::Restore(const ObjectReader& state) {
  ASSIGN_OR_RETURN(best_, RestoreNumber(state, "best"));
  ASSIGN_OR_RETURN(wait_, state.Count("wait", limits::kMaxSteps));
  return absl::OkStatus();
}

}  // namespace paceline
