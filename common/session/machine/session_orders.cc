// Orders to change the variables while no lease is open.
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/cluster/blame.h"
#include "common/limits.h"
#include "common/session/machine/session.h"
#include "common/session/machine/session_state.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// What a worker that did not carry out the order did not do.
std::string OrderText(const v1::VariablesOrder& order) {
  return order.kind() == v1::VariablesOrder::KIND_LOAD
             ? absl::StrCat("load the variables of ", order.checkpoint())
             : "swap the variables with their averages";
}

}  // namespace

void Session::OrderVariables(const v1::VariablesOrder& order, absl::Time now) {
  State& state = *state_;
  if (state.outcome) return;
  CHECK(state.WorkersHoldVariables());
  state.order = order;
  state.order_deadline = now + limits::kCheckpointTimeout;
  state.Wake();
}

Place* Session::State::AwaitedForOrder() {
  if (!order) return nullptr;
  for (const auto& [id, place] : members.places()) {
    if (place.rank >= 0 && seats[id].order < order->number()) {
      return members.Get(id);
    }
  }
  return nullptr;
}

absl::Status Session::ReportOrder(const v1::ReportOrderRequest& request,
                                  absl::Time now) {
  State& state = *state_;
  ASSIGN_OR_RETURN(Place * place, state.members.Find(request.member()));
  const uint64_t last = state.order ? state.order->number() : 0;
  if (place->rank < 0 || request.number() == 0 || request.number() > last) {
    return absl::InvalidArgumentError(absl::StrCat(
        place->Name(), " reports order ", request.number(),
        "; expected one of those that it was given, up to ", last));
  }
  Session::State::Seat& seat = state.seats[place->id];
  if (state.outcome || request.number() <= seat.order) return absl::OkStatus();
  const absl::Status error = state.ReadError(request.error());
  if (!error.ok()) {
    state.End(Annotate(error, absl::StrCat(place->Name(), " did not ",
                                           OrderText(*state.order))),
              place->id, now);
    return absl::OkStatus();
  }
  seat.order = request.number();
  if (state.AwaitedForOrder() == nullptr) {
    VariablesChanged(absl::OkStatus(), now);
  }
  return absl::OkStatus();
}

void Session::VariablesChanged(const absl::Status& status, absl::Time now) {
  State& state = *state_;
  if (state.outcome) return;
  if (!status.ok()) {
    state.End(status, std::nullopt, now);
    return;
  }
  state.flow.VariablesChanged(now);
  state.FollowFlow(now);
  state.Wake();
}

void Session::State::CheckOrder(absl::Time now) {
  if (outcome || !order || now < order_deadline) return;
  const Place* const late = AwaitedForOrder();
  if (late == nullptr) return;
  End(WithBlame(
          absl::DeadlineExceededError(absl::StrCat(
              late->Name(), " did not ", OrderText(*order), " within ",
              absl::FormatDuration(limits::kCheckpointTimeout))),
          {late->id, late->address, absl::StrCat("to ", OrderText(*order))}),
      late->id, now);
}

}  // namespace paceline
