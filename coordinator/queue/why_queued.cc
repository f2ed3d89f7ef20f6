// Why a job does not run.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "coordinator/queue/fit.h"
#include "coordinator/queue/job_queue.h"
#include "coordinator/queue/queue_state.h"

namespace paceline {
namespace {

using State = JobQueue::State;

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

// The silent daemon that holds up a job which is to start again, or on which
// the job is led; of several the one that is given up last. Null: there is
// none.
const Daemon* SilentDaemon(const State::Job& job, const State& state) {
  if (!job.HoldsTasks()) return nullptr;
  const v1::JobRecord& record = job.record;
  const bool ends = record.state() == v1::JOB_STATE_ENDING;
  if (ends && record.state_after_ending() != v1::JOB_STATE_QUEUED) {
    return nullptr;
  }
  const Daemon* last = nullptr;
  for (const v1::Placement& placement : record.placements()) {
    if (placement.state() == v1::TASK_STATE_OVER) continue;
    // The leader decides what becomes of a job that runs without the others.
    if (!ends && &placement != &job.leader()) break;
    const Daemon& daemon = state.daemons.at(placement.daemon());
    if (!daemon.is_silent) continue;
    if (last == nullptr || last->last_heard < daemon.last_heard) {
      last = &daemon;
    }
  }
  return last;
}

std::string WhySilent(const State::Job& job, const State& state) {
  const Daemon* const daemon = SilentDaemon(job, state);
  if (daemon == nullptr) return "";
  return absl::StrCat(
      "waits for daemon ", daemon->name, ", silent since ",
      TimeText(daemon->last_heard),
      ", which may still run its tasks; it is given up at ",
      TimeText(daemon->last_heard + state.options.daemon_timeout));
}

}  // namespace

std::string JobQueue::WhyQueued(absl::string_view id, absl::Time now) const {
  const State& state = *state_;
  const State::Job* job = state_->Find(id);
  if (job == nullptr) return "";
  if (job->record.state() != v1::JOB_STATE_QUEUED)
    return WhySilent(*job, state);
  const std::string& user = job->record.submission().user();
  const absl::Time not_before =
      absl::FromUnixMicros(job->record.not_before_micros());
  if (now < not_before) {
    return absl::StrCat(
        "starts again in ",
        absl::FormatDuration(absl::Ceil(not_before - now, absl::Seconds(1))),
        "; the last start ended: ", job->record.error());
  }
  if (const std::string stray = state.DaemonWithStray(job->record.id());
      !stray.empty()) {
    return absl::StrCat("waits until ", stray,
                        " has ended a task of an earlier start");
  }
  const Resources needed = job->demand.Total();
  if (state.ExceedsQuota(user, needed)) {
    const std::string quota = state.QuotaOf(user)->ToString();
    // It was submitted under a larger quota.
    if (!state.QuotaOf(user)->Allows(1, needed)) {
      return absl::StrCat("waits for a larger quota: it needs ",
                          needed.ToString(), "; the quota of ", user, " is ",
                          quota);
    }
    const State::Usage used = state.UsageOf(user);
    return absl::StrCat("waits for jobs of ", user, " to end: the quota is ",
                        quota, "; ", Counted(used.jobs, "job"), " with ",
                        used.resources.ToString(), " in use");
  }
  if (!state.IsSettled(now)) {
    return "waits for daemons to report what they hold";
  }
  std::vector<Room> rooms;
  for (const Daemon* daemon : state.OpenDaemons()) {
    rooms.push_back({daemon, daemon->Free()});
  }
  const std::string missing = WhatIsMissing(job->demand, std::move(rooms));
  if (missing.empty()) {
    return state.reservation
               ? absl::StrCat("waits behind ",
                              state.jobs.at(state.reservation->job).record.id(),
                              ", for which the room is kept")
               : "is about to start";
  }
  const bool is_next =
      state.reservation && state.reservation->job == job->number();
  if (is_next && state.reservation->ready != absl::InfiniteFuture()) {
    return absl::StrCat("waits for room, until ",
                        TimeText(state.reservation->ready),
                        " at the latest: ", missing);
  }
  return absl::StrCat("waits for room: ", missing);
}

}  // namespace paceline
