// Invariants of a session between any two events, while the job runs.
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/session/machine/session.h"
#include "common/session/machine/session_state.h"

namespace paceline {

absl::Status Session::CheckInvariants() const {
  return state_->CheckInvariants();
}

absl::Status Session::State::CheckInvariants() const {
  RETURN_IF_ERROR(members.CheckInvariants());
  RETURN_IF_ERROR(flow.CheckInvariants());
  // After the job's end members only leave, and their leases do not matter.
  if (outcome) return absl::OkStatus();
  for (const auto& [id, place] : members.places()) {
    RETURN_IF_ERROR(CheckPlace(place));
  }
  for (const TaskId holder : flow.Holders()) {
    if (members.places().at(holder).state == Place::State::kFree) {
      return absl::InternalError(
          absl::StrCat(holder.ToString(),
                       " is gone and not fenced, but holds a "
                       "lease"));
    }
  }
  if (flow.started() && (!shards_ready || members.LiveWorkers() == 0)) {
    return absl::InternalError(
        "the job goes on without parameter servers or workers");
  }
  if ((flow.done() && !AwaitsPeers()) ||
      (nonfinite_loss && options.job.terminate_on_nan())) {
    return absl::InternalError(
        "the job goes on after its end, or after a loss that is not finite");
  }
  return absl::OkStatus();
}

absl::Status Session::State::CheckPlace(const Place& place) const {
  const auto error = [&](absl::string_view what) {
    return absl::InternalError(absl::StrCat(place.Name(), " ", what));
  };
  if (place.state == Place::State::kFenced && !(HasPs() && place.rank >= 0)) {
    return error("is fenced, but no worker of parameter servers");
  }
  if (NeedsEveryWorker() && place.rank >= 0 && !place.taken()) {
    return error("is lost, and the job of workers in step goes on");
  }
  const auto found = seats.find(place.id);
  if (found == seats.end()) return absl::OkStatus();
  const Seat& seat = found->second;
  if (!place.taken() && (seat.preparation || seat.request > 0 ||
                         seat.admission != Admission::kNone)) {
    return error("is gone, but its seat is not empty");
  }
  if (seat.admission != Admission::kNone && !(HasPs() && shards_ready)) {
    return error("was named to shards that hold no variables");
  }
  if (seat.request > 0 && !IsReady(seat)) {
    return error("has work, but is not admitted by all shards");
  }
  return absl::OkStatus();
}

}  // namespace paceline
