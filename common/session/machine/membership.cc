#include "common/session/machine/membership.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Members named in one message, at most.
constexpr int kMaxNamed = 4;
// If the holder of a place sends a heartbeat this long after another process
// asked for the place, two processes run for the same task. Longer than a
// repeated or delayed heartbeat takes to arrive.
constexpr absl::Duration kRivalTime = absl::Seconds(2);

// A process asks for a place that another process holds: either the task was
// restarted, or two processes run for it. Returns which.
absl::Status RefuseRival(const IntroducedMember& caller, absl::Time now,
                         Place& place) {
  if (place.rival != caller.incarnation) {
    place.rival = caller.incarnation;
    place.rival_since = now;
  }
  if (place.last_heard > place.rival_since + kRivalTime) {
    return absl::AlreadyExistsError(
        absl::StrCat("two processes claim to be ", place.Name(),
                     "; both are alive, and only one may be started"));
  }
  return absl::UnavailableError(absl::StrCat(
      "the place of ", place.Name(), " is held by a process last heard of ",
      absl::FormatDuration(
          absl::Trunc(now - place.last_heard, absl::Milliseconds(100))),
      " ago"));
}

}  // namespace

std::string Place::Name() const { return TaskName(id, address); }

void Place::HeardOfMemory(uint64_t peak) {
  constexpr uint64_t kMost = limits::kMaxToldBytes;
  peak_rss_bytes = std::max(peak_rss_bytes, std::min(peak, kMost));
}

Membership::Membership(const std::vector<ExpectedTask>& tasks) {
  for (const ExpectedTask& task : tasks) {
    Place place;
    place.id = task.id;
    place.address = task.address;
    CHECK(places_.emplace(task.id, std::move(place)).second)
        << task.id.ToString() << " twice";
  }
  for (auto& [id, place] : places_) {
    if (id.type != TaskType::kPs) place.rank = worker_count_++;
  }
}

absl::StatusOr<Place*> Membership::Register(const IntroducedMember& caller,
                                            absl::Time now, bool* is_new) {
  ASSIGN_OR_RETURN(Place * place, PlaceOf(caller.task));
  if (place->removed.contains(caller.incarnation)) {
    return absl::FailedPreconditionError(
        absl::StrCat("this incarnation of ", place->Name(), " lost its place"));
  }
  *is_new = !place->taken();
  if (place->taken() && place->incarnation != caller.incarnation) {
    return RefuseRival(caller, now, *place);
  }
  if (place->state == Place::State::kFenced) {
    return absl::UnavailableError(
        absl::StrCat("the previous process of ", place->Name(),
                     " is being fenced by the parameter servers"));
  }
  if (place->address.empty()) place->address = caller.address;
  if (*is_new) {
    place->state = Place::State::kTaken;
    place->incarnation = caller.incarnation;
    place->activity = 0;
    place->last_activity = now;
    place->waiting_for.clear();
    place->error = absl::OkStatus();
    place->rival = 0;
  }
  place->last_heard = now;
  return place;
}

absl::StatusOr<Place*> Membership::Find(const v1::Member& member) {
  ASSIGN_OR_RETURN(const IntroducedMember caller, ReadMember(member));
  ASSIGN_OR_RETURN(Place * place, PlaceOf(caller.task));
  if (!place->taken() || place->incarnation != caller.incarnation) {
    return absl::FailedPreconditionError(
        absl::StrCat("this incarnation of ", place->Name(), " holds no place"));
  }
  if (place->address.empty()) place->address = caller.address;
  return place;
}

absl::StatusOr<Place*> Membership::PlaceOf(TaskId task) {
  Place* place = Get(task);
  if (place != nullptr) return place;
  return absl::NotFoundError(absl::StrCat(
      task.ToString(), " is not in the cluster of this job, which has ",
      worker_count_, " workers and ", places_.size() - worker_count_, " ps"));
}

void Membership::Heard(const v1::HeartbeatRequest& heartbeat, absl::Time now,
                       Place* place) {
  place->last_heard = now;
  if (heartbeat.activity() > place->activity) {
    place->activity = heartbeat.activity();
    place->last_activity = now;
  }
  place->waiting_for = PeerText(heartbeat.waiting_for());
  place->HeardOfMemory(heartbeat.peak_rss_bytes());
}

void Membership::Remove(Place* place, bool fence) {
  CHECK(place->taken()) << place->Name();
  place->removed.insert(place->incarnation);
  place->waiting_for.clear();
  place->state = fence ? Place::State::kFenced : Place::State::kFree;
}

void Membership::WaitAnew(absl::Time now) {
  for (auto& [id, place] : places_) {
    if (!place.waiting_for.empty()) place.last_activity = now;
  }
}

void Membership::Release(Place* place) {
  CHECK(place->state == Place::State::kFenced) << place->Name();
  place->state = Place::State::kFree;
}

std::vector<Place*> Membership::Silent(absl::Duration timeout, absl::Time now) {
  std::vector<Place*> silent;
  for (auto& [id, place] : places_) {
    if (place.taken() && now - place.last_heard > timeout) {
      silent.push_back(&place);
    }
  }
  return silent;
}

Place* Membership::Get(TaskId task) {
  const auto it = places_.find(task);
  return it == places_.end() ? nullptr : &it->second;
}

int Membership::LiveWorkers() const {
  int live = 0;
  for (const auto& [id, place] : places_) {
    live += place.rank >= 0 && place.taken() ? 1 : 0;
  }
  return live;
}

absl::Status Membership::CheckInvariants() const {
  int next_rank = 0;
  for (const auto& [id, place] : places_) {
    const bool was_removed = place.removed.contains(place.incarnation);
    const bool was_held = place.incarnation != 0;
    if (place.taken() ? !was_held || was_removed : was_held != was_removed) {
      return absl::InternalError(
          absl::StrCat(place.Name(), place.taken() ? " is" : " is not",
                       " held by ", place.incarnation, ", which was",
                       was_removed ? "" : " not", " removed"));
    }
    if (place.state == Place::State::kFenced && !was_held) {
      return absl::InternalError(absl::StrCat(
          "no process has ever held the fenced place ", place.Name()));
    }
    if (!place.taken() && !place.waiting_for.empty()) {
      return absl::InternalError(absl::StrCat(
          place.Name(), " is gone, but waits for ", place.waiting_for));
    }
    if (place.taken() && place.rival == place.incarnation) {
      return absl::InternalError(
          absl::StrCat(place.Name(), " asks for its own place"));
    }
    const int rank = id.type == TaskType::kPs ? -1 : next_rank++;
    if (place.rank != rank) {
      return absl::InternalError(absl::StrCat(place.Name(), " has rank ",
                                              place.rank, ", expected ", rank));
    }
  }
  return absl::OkStatus();
}

std::string Membership::Waiting(TaskId task) const {
  std::string text;
  int named = 0;
  for (const auto& [id, place] : places_) {
    if (id == task || !place.taken() || place.waiting_for.empty()) continue;
    if (named++ == kMaxNamed) return absl::StrCat(text, "; …");
    absl::StrAppend(&text, "; ", id.ToString(), " waits for ",
                    place.waiting_for);
  }
  return text;
}

}  // namespace paceline
