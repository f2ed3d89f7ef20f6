#include "common/session/machine/session.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/session/machine/session_state.h"

namespace paceline {
namespace {

v1::AcquireLeaseResponse Granted(const v1::Lease& lease) {
  v1::AcquireLeaseResponse response;
  response.set_verdict(v1::AcquireLeaseResponse::VERDICT_GRANTED);
  *response.mutable_lease() = lease;
  return response;
}

}  // namespace

Session::Session() = default;
Session::~Session() = default;

// --- Work --------------------------------------------------------------------

absl::StatusOr<std::optional<v1::AcquireLeaseResponse>> Session::AcquireLease(
    const v1::AcquireLeaseRequest& request, absl::Time now) {
  State& state = *state_;
  if (state.outcome) {
    if (!state.outcome->ok()) return absl::CancelledError("the job has ended");
    v1::AcquireLeaseResponse done;
    done.set_verdict(state.GoesOn()
                         ? v1::AcquireLeaseResponse::VERDICT_NEXT_PHASE
                         : v1::AcquireLeaseResponse::VERDICT_DONE);
    return std::optional<v1::AcquireLeaseResponse>(done);
  }
  ASSIGN_OR_RETURN(Place * place, state.members.Find(request.member()));
  if (place->rank < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(place->Name(), " takes no leases"));
  }
  return state.Acquire(place, request.request(), now);
}

absl::StatusOr<std::optional<v1::AcquireLeaseResponse>> Session::State::Acquire(
    Place* place, uint64_t request, absl::Time now) {
  Seat& seat = seats[place->id];
  if (request == 0 || request > seat.request + 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(place->Name(), " sends request ", request,
                     " for a lease; expected ", seat.request + 1));
  }
  seat.is_connected = true;
  if (place->rank == 0 && !snapshot_name.empty()) {
    v1::AcquireLeaseResponse order;
    order.set_verdict(v1::AcquireLeaseResponse::VERDICT_SNAPSHOT);
    order.set_snapshot_name(snapshot_name);
    return std::optional<v1::AcquireLeaseResponse>(std::move(order));
  }
  if (order && seat.order < order->number()) {
    v1::AcquireLeaseResponse ordered;
    ordered.set_verdict(v1::AcquireLeaseResponse::VERDICT_ORDER);
    *ordered.mutable_order() = *order;
    return std::optional<v1::AcquireLeaseResponse>(std::move(ordered));
  }
  if (options.connects_only) {
    if (AllConnected()) End(absl::OkStatus(), std::nullopt, now);
    return std::nullopt;
  }
  if (flow.done()) {
    FollowFlow(now);
    return std::nullopt;
  }
  // A late repeat of an old request; nobody waits for its answer.
  if (request < seat.request) return std::nullopt;
  if (request == seat.request) return Granted(seat.lease);
  // A worker that joins late gets leases once it has read the same data.
  if (!IsReady(seat)) return std::nullopt;
  const bool was_idle = !flow.Holds(place->id);
  const std::optional<v1::Lease> lease =
      flow.Grant(place->id, members.LiveWorkers());
  if (!lease) return std::nullopt;
  if (was_idle) place->last_activity = now;
  seat.request = request;
  seat.lease = *lease;
  // Callbacks may have heard of it.
  FollowFlow(now);
  return Granted(*lease);
}

bool Session::State::AllConnected() const {
  return absl::c_all_of(members.places(), [&](const auto& entry) {
    const auto seat = seats.find(entry.first);
    return entry.second.rank < 0 ||
           (seat != seats.end() && seat->second.is_connected);
  });
}

absl::StatusOr<v1::HeartbeatResponse> Session::Heartbeat(
    const v1::HeartbeatRequest& request, absl::Time now) {
  State& state = *state_;
  ASSIGN_OR_RETURN(Place * place, state.members.Find(request.member()));
  absl::StatusOr<WorkReport> work =
      ReadWorkReport(request, state.flow.metrics());
  if (!work.ok()) return Annotate(work.status(), place->Name());
  state.members.Heard(request, now, place);
  v1::HeartbeatResponse response;
  if (!state.outcome && place->rank >= 0) {
    state.TakeSteps(state.seats[place->id], work->steps);
    for (const LeaseReport& report : work->leases) {
      if (state.WatchLoss(*place, report, now)) break;
      ASSIGN_OR_RETURN(const bool finished,
                       state.flow.Report(place->id, report, now));
      if (finished) state.Wake();
    }
    state.FollowFlow(now);
  }
  if (request.leaves()) state.AskedToLeave(*place, now);
  response.set_next_phase(state.GoesOn());
  // A worker that has a trace to send learns by its lease that it is over.
  response.set_stop(state.outcome && !state.GoesOn() &&
                    !state.AwaitsTrace(*place));
  return response;
}

void Session::State::TakeSteps(Seat& seat, const std::vector<StepRow>& rows) {
  if (!options.job.log_steps()) return;
  for (const StepRow& row : rows) {
    // A row of a step that was not leased yet is wrong.
    if (row.step <= seat.last_step || row.step > flow.StepsLeased()) continue;
    seat.last_step = row.step;
    if (row.weight > 0) steps.push_back(row);
  }
}

Blame Session::OrderSnapshot(const std::string& name) {
  state_->snapshot_name = name;
  state_->Wake();
  const auto& places = state_->members.places();
  const auto first =
      std::find_if(places.begin(), places.end(),
                   [](const auto& entry) { return entry.second.rank == 0; });
  CHECK(first != places.end()) << "a session has a worker";
  return {first->first, first->second.address,
          absl::StrCat("checkpoint ", name)};
}

absl::Status Session::ReportCheckpoint(
    const v1::ReportCheckpointRequest& request) {
  State& state = *state_;
  ASSIGN_OR_RETURN(Place * place, state.members.Find(request.member()));
  if (place->rank != 0 || !state.WorkersHoldVariables()) {
    return absl::InvalidArgumentError(
        absl::StrCat(place->Name(), " was asked for no checkpoint"));
  }
  CheckpointReported report;
  report.name = request.name();
  report.status = state.ReadError(request.error());
  if (request.has_file()) {
    ASSIGN_OR_RETURN(report.file, ReadCheckpointFile(request.file()));
  }
  if (report.name == state.snapshot_name) state.snapshot_name.clear();
  state.actions.push_back(std::move(report));
  return absl::OkStatus();
}

void Session::State::FollowFlow(absl::Time now) {
  for (Action& action : flow.TakeActions()) {
    if (auto* checkpoint = std::get_if<TakeCheckpoint>(&action)) {
      checkpoint->shard_steps =
          shard_steps.After(checkpoint->step - flow.first_step());
    }
    actions.push_back(std::move(action));
  }
  if (!flow.failure().ok()) {
    End(flow.failure(), std::nullopt, now);
  } else if (flow.done()) {
    if (!AwaitsPeers()) End(absl::OkStatus(), std::nullopt, now);
  } else if (flow.has_ended_early() && stop_reason) {
    End(*stop_reason, std::nullopt, now);
  } else if (flow.has_ended_early()) {
    End(absl::UnavailableError(absl::StrCat(
            members.Get(*leaving)->Name(), ": a signal asked it to leave",
            options.job.has_checkpoint()
                ? "; --resume goes on from the last checkpoint"
                : "; the job takes no checkpoints")),
        leaving, now, /*is_departure=*/true);
  }
}

void Session::SnapshotTaken(const absl::Status& status, absl::Time now) {
  State& state = *state_;
  if (state.outcome) return;
  if (!status.ok()) {
    state.End(status, std::nullopt, now);
    return;
  }
  state.flow.SnapshotTaken(now);
  state.FollowFlow(now);
  state.Wake();
}

void Session::CheckpointWritten(const absl::Status& status, absl::Time now) {
  State& state = *state_;
  if (state.outcome) return;
  const absl::Status result = state.flow.CheckpointWritten(status, now);
  state.FollowFlow(now);
  if (!result.ok()) state.End(result, std::nullopt, now);
}

void Session::CommandEnded(const RunCommand& run,
                           const absl::StatusOr<std::string>& output,
                           absl::Time now) {
  State& state = *state_;
  if (state.outcome) return;
  state.flow.CommandEnded(run, output, now);
  state.FollowFlow(now);
  state.Wake();
}

// --- What others see ---------------------------------------------------------

std::vector<Action> Session::TakeActions() {
  return std::exchange(state_->actions, {});
}

ProgressView Session::Progress() const { return state_->flow.Progress(); }

std::vector<StepRow> Session::TakeStepRows() {
  return std::exchange(state_->steps, {});
}

const std::vector<EpochRecord>& Session::history() const {
  return state_->flow.history();
}

const std::optional<NonfiniteLoss>& Session::nonfinite_loss() const {
  return state_->nonfinite_loss;
}

std::vector<TaskView> Session::Tasks() const {
  std::vector<TaskView> tasks;
  for (const auto& [id, place] : state_->members.places()) {
    tasks.push_back(
        {id, place.address, place.incarnation, place.peak_rss_bytes});
  }
  return tasks;
}

bool Session::ended() const { return state_->outcome.has_value(); }

bool Session::AllGone(absl::Time now) const {
  const State& state = *state_;
  if (!state.outcome) return false;
  if (now >= state.ended_at + state.options.shutdown_timeout) return true;
  for (const auto& [id, place] : state.members.places()) {
    if (place.taken()) return false;
  }
  return true;
}

}  // namespace paceline
