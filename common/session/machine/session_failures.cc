// The session's reaction to lost members, to deadlines, and to the user's stop.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/cluster/blame.h"
#include "common/session/machine/session.h"
#include "common/session/machine/session_state.h"

namespace paceline {
namespace {

// Tasks named in one message, at most.
constexpr int kMaxNamedTasks = 16;

std::string Text(absl::Duration duration) {
  return absl::FormatDuration(absl::Trunc(duration, absl::Milliseconds(100)));
}

}  // namespace

void Session::State::End(absl::Status status, std::optional<TaskId> task,
                         absl::Time now, bool is_departure) {
  if (outcome) return;
  if (const std::optional<Blame> blame = BlameOf(status)) {
    task = blame->task;
    // Only that it is gone: its disk may be full as well.
    is_departure |=
        asked_to_leave.contains(blame->task) &&
        (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status));
  }
  if (!status.ok() && !absl::IsCancelled(status) && !nonfinite_loss &&
      loss_watch.found() && options.job.terminate_on_nan()) {
    nonfinite_loss = loss_watch.found();
    status = LossError(*nonfinite_loss);
    task = nonfinite_loss->worker;
  }
  is_departure &= !nonfinite_loss;
  outcome = status;
  ended_at = now;
  actions.push_back(Ended{std::move(status), task, is_departure});
  Wake();
}

void Session::Stop(const absl::Status& reason, absl::Time now) {
  state_->End(reason, std::nullopt, now);
}

void Session::StopAfterCheckpoint(const absl::Status& reason, absl::Time now) {
  State& state = *state_;
  if (state.outcome || state.leaving || state.stop_reason) return;
  state.stop_reason = reason;
  state.flow.EndEarly(now);
  state.FollowFlow(now);
  state.Wake();
}

void Session::State::AskedToLeave(const Place& place, absl::Time now) {
  if (outcome) return;
  asked_to_leave.insert(place.id);
  if (leaving || stop_reason || (place.rank >= 0 && !NeedsEveryWorker()))
    return;
  leaving = place.id;
  actions.push_back(
      Notice{absl::StrCat(place.Name(), " was asked to leave; the job ends")});
  flow.EndEarly(now);
  FollowFlow(now);
}

absl::Status Session::Leave(const v1::LeaveRequest& request, absl::Time now) {
  State& state = *state_;
  ASSIGN_OR_RETURN(const IntroducedMember caller, ReadMember(request.member()));
  ASSIGN_OR_RETURN(Place * place, state.members.PlaceOf(caller.task));
  if (place->incarnation != caller.incarnation) {
    return absl::FailedPreconditionError(
        absl::StrCat("this incarnation of ", place->Name(), " holds no place"));
  }
  place->HeardOfMemory(request.peak_rss_bytes());
  if (!place->taken()) return absl::OkStatus();
  const absl::Status error = state.ReadError(request.error());
  if (state.outcome || error.ok()) {
    state.asked_to_leave.insert(place->id);
    state.Lose(place, "left", now);
  } else {
    state.LeaveWithError(place, error, now);
  }
  return absl::OkStatus();
}

void Session::State::LeaveWithError(Place* place, const absl::Status& error,
                                    absl::Time now) {
  place->error = error;
  // A worker that joins late and cannot start is no loss to the running job.
  const bool never_worked = flow.started() && !seats[place->id].preparation;
  // If a member says that it lost its own place, it alone is lost. If it blames
  // a ps that lost its variables, the job cannot go on.
  const std::optional<Blame> blame = BlameOf(error);
  const bool blames_another = blame && blame->task != place->id;
  const bool replaced = absl::IsAborted(error) ||
                        (absl::IsFailedPrecondition(error) && !blames_another);
  const bool only_itself =
      place->rank >= 0 && !NeedsEveryWorker() &&
      (never_worked || replaced || absl::IsCancelled(error));
  const bool waits_in_vain = !flow.started() && options.places_once;
  if (!only_itself || waits_in_vain) {
    absl::Status reason = Annotate(error, place->Name());
    // The end of one worker is no stop by the user.
    if (only_itself && absl::IsCancelled(reason)) {
      reason = absl::UnavailableError(reason.message());
    }
    End(std::move(reason), place->id, now,
        only_itself && asked_to_leave.contains(place->id));
  }
  Lose(place, absl::StrCat("left: ", CodeAndMessage(error)), now);
}

absl::Status Session::State::ReadError(const v1::Error& proto) {
  absl::Status error = ErrorFromProto(proto);
  std::optional<Blame> blame = BlameOf(error);
  if (!blame) return error;
  const Place* const blamed = members.Get(blame->task);
  if (blamed == nullptr) return WithoutBlame(std::move(error));
  blame->address = blamed->address;
  return WithBlame(std::move(error), *blame);
}

void Session::State::Lose(Place* place, absl::string_view reason,
                          absl::Time now) {
  if (outcome) {
    members.Remove(place, /*fence=*/false);
  } else if (place->rank >= 0) {
    LoseWorker(place, reason, now);
  } else {
    End(absl::UnavailableError(absl::StrCat(
            place->Name(), " ", reason, members.Waiting(place->id),
            flow.AwaitsCheckpoint() ? "; the leader waits for a checkpoint"
                                    : "")),
        place->id, now, asked_to_leave.contains(place->id));
    members.Remove(place, /*fence=*/false);
  }
}

void Session::State::LoseWorker(Place* place, absl::string_view reason,
                                absl::Time now) {
  const bool was_asked = asked_to_leave.contains(place->id);
  if (NeedsEveryWorker()) {
    End(absl::UnavailableError(absl::StrCat(place->Name(), " ", reason,
                                            members.Waiting(place->id))),
        place->id, now, was_asked);
    members.Remove(place, /*fence=*/false);
    return;
  }
  if (!flow.started() && options.places_once) {
    End(absl::UnavailableError(absl::StrCat(place->Name(), " ", reason,
                                            " before the job started")),
        place->id, now, was_asked);
    members.Remove(place, /*fence=*/false);
    return;
  }
  const bool fence = seats[place->id].admission != Admission::kNone;
  members.Remove(place, fence);
  members.WaitAnew(now);
  seats[place->id] = Seat();
  // The next process in this place was not.
  asked_to_leave.erase(place->id);
  flow.WorkerLost(place->id);
  Wake();
  if (flow.started() && members.LiveWorkers() == 0) {
    End(absl::UnavailableError(
            absl::StrCat("no worker is left: ", place->Name(), " ", reason)),
        place->id, now, was_asked);
    return;
  }
  actions.push_back(Notice{absl::StrCat(
      place->Name(), " ", reason,
      flow.started() ? "; its leases go to others" : "; its place is free")});
  if (fence) {
    FenceWorker action;
    action.worker.set_rank(place->rank);
    action.worker.set_incarnation(place->incarnation);
    actions.push_back(std::move(action));
  }
}

void Session::Fenced(
    const v1::WorkerId& worker,
    const absl::StatusOr<std::vector<v1::FenceResponse>>& answers,
    absl::Time now) {
  State& state = *state_;
  if (state.outcome) return;
  Place* fenced = nullptr;
  for (const auto& [id, place] : state.members.places()) {
    if (place.state == Place::State::kFenced &&
        place.incarnation == worker.incarnation()) {
      fenced = state.members.Get(id);
    }
  }
  if (fenced == nullptr) return;
  absl::Status status = answers.status();
  if (status.ok()) status = state.TakeRecords(fenced->id, *answers, now);
  if (!status.ok()) {
    state.End(Annotate(status, absl::StrCat("shutting out ", fenced->Name())),
              fenced->id, now);
  }
  // The job has ended: by an error, or by a non-finite loss in the records.
  if (state.outcome) return;
  state.members.Release(fenced);
  state.members.WaitAnew(now);
  state.FollowFlow(now);
  state.Wake();
}

absl::Status Session::State::TakeRecords(
    TaskId worker, const std::vector<v1::FenceResponse>& answers,
    absl::Time now) {
  std::vector<LeaseReport> reports;
  std::vector<int64_t> pushes;
  for (size_t shard = 0; shard < answers.size(); ++shard) {
    absl::StatusOr<ShardRecord> record =
        ReadShardRecord(answers[shard], flow.metrics());
    if (!record.ok()) {
      const TaskId ps = {TaskType::kPs, static_cast<int>(shard)};
      return WithBlame(Annotate(record.status(),
                                absl::StrCat("the record of ", ps.ToString())),
                       {ps, members.Get(ps)->address, "Fence"});
    }
    pushes.push_back(record->sequence);
    for (LeaseReport& report : record->reports) {
      reports.push_back(std::move(report));
    }
  }
  for (const LeaseReport& report : reports) {
    if (WatchLoss(*members.Get(worker), report, now)) return absl::OkStatus();
  }
  shard_steps.Fenced(pushes);
  return flow.Fenced(worker, reports, now);
}

void Session::TaskExited(TaskId task, int exit_code, absl::Time now) {
  State& state = *state_;
  Place* place = state.members.Get(task);
  if (place == nullptr) return;
  const std::string reason = absl::StrCat("exited with code ", exit_code);
  if (!state.flow.started()) {
    // Nobody restarts processes of a local cluster.
    absl::Status error = Annotate(place->error, place->Name());
    if (error.ok()) {
      error = absl::UnavailableError(absl::StrCat(
          place->Name(), " ", reason, " before the job started; see its log",
          state.members.Waiting(task)));
    }
    state.End(std::move(error), task, now);
  }
  if (place->taken()) state.Lose(place, reason, now);
}

void Session::Tick(absl::Time now) {
  state_->CheckSilence(now);
  if (state_->outcome) return;
  state_->CheckStalls(now);
  state_->CheckOrder(now);
  state_->CheckStart(now);
  state_->AttemptShards(now);
}

void Session::State::CheckSilence(absl::Time now) {
  for (Place* place : members.Silent(options.heartbeat_timeout, now)) {
    Lose(place,
         absl::StrCat("sent no heartbeat for ", Text(now - place->last_heard)),
         now);
  }
}

void Session::State::CheckStalls(absl::Time now) {
  // Chooses which stalled worker to give up. First, a worker that waits for no
  // other task. A worker that waits is given up only if every worker is
  // stalled, since the task it waits for may need long. Under bounded staleness
  // a worker may wait for one that has no lease. Only the shards know that;
  // they stop waiting for such a worker within the stall timeout, so waiting
  // workers get twice that timeout here.
  const absl::Duration patience_with_waiting =
      options.job.consistency() == v1::CONSISTENCY_BOUNDED
          ? 2 * options.stall_timeout
          : options.stall_timeout;
  Place* stuck = nullptr;
  Place* waits_longest = nullptr;
  bool someone_goes_on = false;
  for (const auto& [id, seat] : seats) {
    Place* place = members.Get(id);
    if (place->rank < 0 || !place->taken() || !flow.Holds(id)) continue;
    if (now - place->last_activity <= options.stall_timeout) {
      someone_goes_on = true;
      continue;
    }
    const bool waits = !place->waiting_for.empty();
    if (waits && now - place->last_activity <= patience_with_waiting) continue;
    Place*& oldest = waits ? waits_longest : stuck;
    if (oldest == nullptr || place->last_activity < oldest->last_activity) {
      oldest = place;
    }
  }
  if (stuck == nullptr && !someone_goes_on) stuck = waits_longest;
  if (stuck == nullptr) return;
  std::string reason =
      absl::StrCat("holds work and finished no piece of it for ",
                   Text(now - stuck->last_activity));
  if (!stuck->waiting_for.empty()) {
    absl::StrAppend(&reason, " (it waits for ", stuck->waiting_for, ")");
  }
  Lose(stuck, reason, now);
}

void Session::State::CheckStart(absl::Time now) {
  if (flow.started() || !leader_ready) return;
  // A worker may take long to fetch its data, and is active meanwhile.
  absl::Time last = start_began;
  for (const auto& [id, place] : members.places()) {
    if (place.activity > 0) last = std::max(last, place.last_activity);
  }
  if (now <= last + options.start_timeout) return;
  std::optional<TaskId> first;
  const std::string missing = Missing(&first);
  End(absl::DeadlineExceededError(
          absl::StrCat("the job did not start within ",
                       absl::FormatDuration(options.start_timeout),
                       "; waited for ", missing)),
      first, now);
}

std::string Session::State::Missing(std::optional<TaskId>* first) {
  std::string text;
  int count = 0;
  for (const auto& [id, place] : members.places()) {
    std::string what;
    if (!place.taken()) {
      what = place.error.ok()
                 ? "it has not registered"
                 : absl::StrCat("it left: ", place.error.message());
    } else if (place.rank >= 0 && !seats[id].preparation) {
      what = "it has not read its data";
    } else if (place.rank >= 0 && shards_ready && !IsReady(seats[id])) {
      what = "the parameter servers have not let it in";
    } else {
      continue;
    }
    if (!*first) *first = id;
    if (++count <= kMaxNamedTasks) {
      absl::StrAppend(&text, text.empty() ? "" : ", ", place.Name(), " (", what,
                      ")");
    }
  }
  if (count > kMaxNamedTasks) {
    absl::StrAppend(&text, " and ", count - kMaxNamedTasks, " more");
  }
  return text.empty() ? "the parameter servers to hold variables" : text;
}

}  // namespace paceline
