#include "common/callback/reduce_lr_on_plateau.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/callback/python_number.h"
#include "common/callback/rate_in_use.h"
#include "common/checkpoint/object_reader.h"
#include "common/config/field_table.h"
#include "common/limits.h"
#include "nlohmann/json.hpp"

namespace paceline {

const FieldTable<ReduceLrOnPlateau>& ReduceLrOnPlateau::Fields() {
  static const auto& table = *new FieldTable<ReduceLrOnPlateau>(
      kClassName,
      "Reduces the learning rate after an epoch once a value no longer gets "
      "better.",
      {MonitorField(),
       Optional("factor", &ReduceLrOnPlateau::factor, Within(0, 1),
                "Factor by which the rate is reduced."),
       Optional("patience", &ReduceLrOnPlateau::patience, AtLeast(0),
                "Epochs without an improvement after which the rate is "
                "reduced."),
       Optional("verbose", &ReduceLrOnPlateau::verbose, AtLeast(0),
                "1: says so when it reduces the rate."),
       ModeField(), MinDeltaField(),
       Optional("cooldown", &ReduceLrOnPlateau::cooldown,
                Between(0, std::numeric_limits<int32_t>::max()),
                "Epochs after a reduction that do not count."),
       Optional("min_lr", &ReduceLrOnPlateau::min_lr, AtLeast(0),
                "The smallest rate.")});
  return table;
}

absl::Status ReduceLrOnPlateau::Prepare(const CallbackContext& context,
                                        const Path& path) {
  RETURN_IF_ERROR(CheckConstantRate(*this, context, path));
  return MonitorCallback::Prepare(context, path);
}

void ReduceLrOnPlateau::EpochEnded(EpochEnd& end, Decision& decision) {
  LogRate(decision, end);
  const std::optional<double> current = ValueIn(end.logs);
  if (!current) {
    WarnOnce(absl::StrCat("Learning rate reduction is conditioned on metric `",
                          monitor,
                          "` which is not available. Available metrics are: ",
                          KeysText(end.logs), "."),
             decision);
    return;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    wait_ = 0;
  }
  if (Improves(*current, best_)) {
    best_ = current;
    wait_ = 0;
  } else if (cooldown_left_ == 0 && ++wait_ >= patience) {
    Reduce(end, decision);
  }
}

void ReduceLrOnPlateau::Reduce(const EpochEnd& end, Decision& decision) {
  const double rate = RateInUse(end.learning_rate, decision);
  if (rate <= static_cast<float>(min_lr)) return;
  const double reduced = std::max(rate * factor, min_lr);
  decision.learning_rate = reduced;
  cooldown_left_ = cooldown;
  wait_ = 0;
  if (verbose == 0) return;
  decision.outputs.emplace_back(
      ShowMessage{absl::StrCat("\nEpoch ", end.epoch + 1,
                               ": ReduceLROnPlateau reducing learning rate to ",
                               PythonNumber(reduced), ".")});
}

nlohmann::json ReduceLrOnPlateau::Save() const {
  return {{"best", SaveNumber(best_)},
          {"wait", wait_},
          {"cooldown", cooldown_left_}};
}

absl::Status ReduceLrOnPlateau::Restore(const ObjectReader& state) {
  ASSIGN_OR_RETURN(best_, RestoreNumber(state, "best"));
  ASSIGN_OR_RETURN(wait_, state.Count("wait", limits::kMaxSteps));
  ASSIGN_OR_RETURN(cooldown_left_, state.Count("cooldown", limits::kMaxSteps));
  return absl::OkStatus();
}

}  // namespace paceline
