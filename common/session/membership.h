// Who holds which place in the cluster.
//
//          Register            Remove(fence)         Release
//   FREE ──────────> TAKEN ─────────────────> FENCED ────────> FREE
//                      └──────── Remove ────────────────────────^
//
// A place is taken by one incarnation at a time. One that was removed never
// comes back: its requests are refused, also those that the network repeats
// after a new incarnation took the place.
#ifndef PACELINE_COMMON_SESSION_MEMBERSHIP_H_
#define PACELINE_COMMON_SESSION_MEMBERSHIP_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/cluster/task.h"
#include "common/session/member_requests.h"
#include "common/session/session.h"
#include "paceline/v1/coordinator.pb.h"

namespace paceline {

struct Place {
  enum class State { kFree, kTaken, kFenced };

  TaskId id;
  // Position among the workers; -1 for a ps.
  int rank = -1;
  State state = State::kFree;
  // Where the task listens; "" while unknown.
  std::string address;

  // Of the member that holds the place, or held it last.
  uint64_t incarnation = 0;
  absl::Time last_heard;
  uint64_t activity = 0;
  absl::Time last_activity;
  std::string waiting_for;
  uint64_t peak_rss_bytes = 0;
  // With which it left; OK if it gave none.
  absl::Status error;

  // Of another process that asks for the place while it is taken, and since
  // when; 0: none.
  uint64_t rival = 0;
  absl::Time rival_since;
  // Incarnations that are out for good.
  std::set<uint64_t> removed;

  bool taken() const { return state == State::kTaken; }
  // "worker-1 at 10.0.0.2:2222".
  std::string Name() const;
  // A sign of its largest resident set.
  void HeardOfMemory(uint64_t peak);
};

// Not thread-safe. A state machine without I/O.
class Membership {
 public:
  explicit Membership(const std::vector<ExpectedTask>& tasks);

  // Takes the place, or finds that this incarnation holds it; `*is_new` says
  // which. NotFound: no such place. FailedPrecondition: the incarnation was
  // removed. Unavailable: the place is still held by another, or that one is
  // not fenced yet; try again. AlreadyExists: the other has shown life since,
  // so there are two.
  absl::StatusOr<Place*> Register(const IntroducedMember& caller,
                                  absl::Time now, bool* is_new);

  // The place that the member holds. NotFound, FailedPrecondition: it holds
  // none. InvalidArgument as for ReadMember.
  absl::StatusOr<Place*> Find(const v1::Member& member);

  // The place of a task, whoever holds it. NotFound: there is none.
  absl::StatusOr<Place*> PlaceOf(TaskId task);

  // A sign of life.
  void Heard(const v1::HeartbeatRequest& heartbeat, absl::Time now,
             Place* place);

  // Shuts the place's incarnation out. With `fence`, the place stays closed
  // until Release.
  void Remove(Place* place, bool fence);
  void Release(Place* place);
  // What some waited for has changed: their patience begins again.
  void WaitAnew(absl::Time now);

  // Those silent for longer than `timeout`.
  std::vector<Place*> Silent(absl::Duration timeout, absl::Time now);

  // nullptr if there is no such place.
  Place* Get(TaskId task);
  const std::map<TaskId, Place>& places() const { return places_; }
  int worker_count() const { return worker_count_; }
  // Workers whose place is taken.
  int LiveWorkers() const;

  // "; worker-0 waits for Push to ps-1 at …": what the members other than
  // `task` wait for, or "".
  std::string Waiting(TaskId task) const;

  // Internal, naming the place, unless:
  //  * A place is taken by an incarnation that was not removed. One that is not
  //    taken was held last by one that was, or by nobody yet.
  //  * Only the holder of a place waits for something. Who asks for a place
  //  that
  //    is taken is another process.
  //  * Workers are ranked in the order of places.
  // For tests; takes time in proportion to the places.
  absl::Status CheckInvariants() const;

 private:
  // Workers (a chief that works first), then ps.
  std::map<TaskId, Place> places_;
  int worker_count_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MEMBERSHIP_H_
