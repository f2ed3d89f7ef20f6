#include "common/callback/learning_rate_scheduler.h"

#include "absl/strings/str_cat.h"
#include "common/callback/python_number.h"
#include "common/callback/rate_in_use.h"
#include "common/config/field_table.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "common/optimizer/learning_rate.h"

namespace paceline {

const FieldTable<LearningRateScheduler>& LearningRateScheduler::Fields() {
  static const auto& table = *new FieldTable<LearningRateScheduler>(
      kClassName,
      "Sets the learning rate where an epoch begins. `schedule` is a map such "
      "as `{0: 0.001, 3: 0.0001}`, from which epoch on (from 0) which rate "
      "holds; or an expression of `epoch`, `step` (steps of the job before the "
      "epoch), `lr` (the rate so far) and `num_replicas` (that step together), "
      "such as `lr if epoch < 3 else lr * exp(-0.1)`, with Python's operators "
      "and `abs`, `cos`, `exp`, `floor`, `log`, `max`, `min`, `pi`, `pow`, "
      "`sqrt` and `where(condition, a, b)`.",
      {Required("schedule", &LearningRateScheduler::schedule,
                "The rates by epoch."),
       Optional("verbose", &LearningRateScheduler::verbose, AtLeast(0),
                "1: says so when it sets the rate.")});
  return table;
}

absl::Status LearningRateScheduler::Prepare(const CallbackContext& context,
                                            const Path& path) {
  where_ = path.text();
  return CheckConstantRate(*this, context, path);
}

void LearningRateScheduler::EpochBegan(const EpochStart& start,
                                       Decision& decision) {
  const double rate =
      schedule.At({.epoch = static_cast<double>(start.epoch),
                   .step = static_cast<double>(start.steps),
                   .lr = RateInUse(start.learning_rate, decision),
                   .num_replicas = static_cast<double>(start.num_replicas)});
  if (!IsLearningRate(rate)) {
    decision.failure.Update(absl::InvalidArgumentError(absl::StrCat(
        where_, ".schedule: ",
        schedule.text().empty() ? "the table" : Excerpt(Value(schedule.text())),
        " gives the learning rate ", PythonNumber(rate), " for epoch ",
        start.epoch + 1, " (`epoch` ", start.epoch, "); expected ",
        kLearningRates)));
    return;
  }
  decision.learning_rate = rate;
  if (verbose == 0) return;
  decision.outputs.emplace_back(ShowMessage{
      absl::StrCat("\nEpoch ", start.epoch + 1,
                   ": LearningRateScheduler setting learning rate to ",
                   PythonNumber(rate), ".")});
}

void LearningRateScheduler::EpochEnded(EpochEnd& end, Decision& decision) {
  LogRate(decision, end);
}

}  // namespace paceline
