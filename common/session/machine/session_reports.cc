// What workers send for callbacks: traces, and images of the first batch.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/callback/callback_list.h"
#include "common/session/machine/session.h"
#include "common/session/machine/session_state.h"
#include "common/session/machine/trace_report.h"

namespace paceline {

absl::StatusOr<Place*> Session::State::FindReporter(const v1::Member& member,
                                                    bool wanted,
                                                    absl::string_view what) {
  ASSIGN_OR_RETURN(Place * place, members.Find(member));
  if (place->rank < 0 || !wanted || !options.evaluate_checkpoint.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(place->Name(), " was asked for no ", what));
  }
  return place;
}

bool Session::State::AwaitsTrace(const Place& place) const {
  // Who has had no lease has nothing to send.
  const auto seat = seats.find(place.id);
  if (seat == seats.end() || seat->second.request == 0) return false;
  return outcome && outcome->ok() && place.rank >= 0 &&
         options.evaluate_checkpoint.empty() && options.callbacks != nullptr &&
         options.callbacks->traced_steps().is_on() &&
         !traced.contains(place.id);
}

// The flow has no part in it: such a report changes nothing of the training.
void Session::State::Serve(Decision decision) {
  if (decision.outputs.empty()) return;
  actions.emplace_back(ServeCallbacks{std::move(decision.outputs)});
}

absl::Status Session::ReportTrace(const v1::ReportTraceRequest& request) {
  State& state = *state_;
  const std::shared_ptr<CallbackList>& callbacks = state.options.callbacks;
  ASSIGN_OR_RETURN(
      const Place* const place,
      state.FindReporter(
          request.member(),
          callbacks != nullptr && callbacks->traced_steps().is_on(), "trace"));
  if (state.traced.contains(place->id)) return absl::OkStatus();
  absl::StatusOr<Trace> trace = ReadTrace(request);
  if (!trace.ok()) return Annotate(trace.status(), place->Name());
  state.traced.insert(place->id);
  state.Serve(callbacks->TraceCame(
      place->id.ToString(), std::make_shared<const Trace>(*std::move(trace))));
  return absl::OkStatus();
}

absl::Status Session::ReportImages(const v1::ReportImagesRequest& request) {
  State& state = *state_;
  const std::shared_ptr<CallbackList>& callbacks = state.options.callbacks;
  const int64_t most =
      callbacks == nullptr ? 0 : callbacks->first_batch_images();
  ASSIGN_OR_RETURN(const Place* const place,
                   state.FindReporter(request.member(), most > 0, "images"));
  if (state.has_images) return absl::OkStatus();
  const absl::StatusOr<FirstImages> images = ReadImages(request, most);
  if (!images.ok()) return Annotate(images.status(), place->Name());
  state.has_images = true;
  state.Serve(callbacks->ImagesCame(*images));
  return absl::OkStatus();
}

}  // namespace paceline
