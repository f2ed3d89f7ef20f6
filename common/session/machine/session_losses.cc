// The session's reaction to a loss that is NaN or infinite.
#include <string>

#include "absl/strings/str_cat.h"
#include "common/session/machine/session.h"
#include "common/session/machine/session_state.h"

namespace paceline {

bool Session::State::WatchLoss(const Place& place, const LeaseReport& report,
                               absl::Time now) {
  const std::optional<JobFlow::StepNumber> step =
      flow.NumberOf(place.id, report.lease_id, report.first_nonfinite_step);
  if (!step || outcome || nonfinite_loss) return false;
  if (report.first_nonfinite_step > 0) {
    loss_watch.Found({report.lease_id, report.first_nonfinite_step},
                     {place.id, step->epoch, step->step, report.states[0]});
  }
  loss_watch.Reached(place.id, {report.lease_id, report.steps});
  nonfinite_loss = loss_watch.first();
  if (!nonfinite_loss) return false;
  if (options.job.terminate_on_nan()) {
    End(LossError(*nonfinite_loss), nonfinite_loss->worker, now);
    return true;
  }
  actions.push_back(
      Notice{absl::StrCat(LossText(*nonfinite_loss),
                          "; training goes on (terminate_on_nan: false)")});
  return false;
}

std::string Session::State::LossText(const NonfiniteLoss& loss) {
  return absl::StrCat(members.Get(loss.worker)->Name(), ": the loss of step ",
                      loss.step, ", in epoch ", loss.epoch + 1, " of ",
                      options.job.epochs(), ", is not finite (",
                      NonfiniteName(loss.value), ")");
}

absl::Status Session::State::LossError(const NonfiniteLoss& loss) {
  return absl::OutOfRangeError(absl::StrCat(
      LossText(loss),
      "; a lower learning_rate, clipnorm or clipvalue of the optimizer may "
      "help, and the data may have such values; `terminate_on_nan: false` "
      "trains on"));
}

}  // namespace paceline
