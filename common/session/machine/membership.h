// Which process holds which place in the cluster.
//
//          Register            Remove(fence)         Release
//   FREE ──────────> TAKEN ─────────────────> FENCED ────────> FREE
//                      └──────── Remove ────────────────────────^
//
// A place is held by one incarnation at a time. A removed incarnation never
// comes back: its requests are refused, even requests that the network delivers
// late, after a new incarnation has taken the place.
#ifndef PACELINE_COMMON_SESSION_MACHINE_MEMBERSHIP_H_
#define PACELINE_COMMON_SESSION_MACHINE_MEMBERSHIP_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/cluster/task.h"
#include "common/session/machine/member_requests.h"
#include "common/session/machine/session.h"
#include "paceline/v1/coordinator.pb.h"

namespace paceline {

struct Place {
  enum class State { kFree, kTaken, kFenced };

  TaskId id;
  // Rank among the workers; -1 for a ps.
  int rank = -1;
  State state = State::kFree;
  // Where the task listens; "" while unknown.
  std::string address;

  // The incarnation that holds the place, or held it last.
  uint64_t incarnation = 0;
  absl::Time last_heard;
  uint64_t activity = 0;
  absl::Time last_activity;
  std::string waiting_for;
  uint64_t peak_rss_bytes = 0;
  // The error with which the last holder left; OK if it gave none.
  absl::Status error;

  // The incarnation of another process that asks for the place while it is
  // taken, and the time of its first request; 0: none.
  uint64_t rival = 0;
  absl::Time rival_since;
  // Incarnations that are shut out for good.
  std::set<uint64_t> removed;

  bool taken() const { return state == State::kTaken; }
  // "worker-1 at 10.0.0.2:2222".
  std::string Name() const;
  // The member reported this peak resident set size.
  void HeardOfMemory(uint64_t peak);
};

// Not thread-safe. A state machine without I/O.
class Membership {
 public:
  explicit Membership(const std::vector<ExpectedTask>& tasks);

  // Takes the place. If this incarnation already holds it, sets `*is_new` to
  // false. NotFound: no such place. FailedPrecondition: the incarnation was
  // removed. Unavailable: another process holds the place or is not fenced yet;
  // retry. AlreadyExists: that other process has sent a heartbeat since, so two
  // processes run for the task.
  absl::StatusOr<Place*> Register(const IntroducedMember& caller,
                                  absl::Time now, bool* is_new);

  // The place that the member holds. NotFound or FailedPrecondition: it holds
  // none. InvalidArgument: as for ReadMember.
  absl::StatusOr<Place*> Find(const v1::Member& member);

  // The place of a task, whoever holds it. NotFound: there is no such place.
  absl::StatusOr<Place*> PlaceOf(TaskId task);

  // The holder of the place sent a heartbeat.
  void Heard(const v1::HeartbeatRequest& heartbeat, absl::Time now,
             Place* place);

  // Shuts out the incarnation that holds the place. With `fence`, no other
  // process can take the place before Release.
  void Remove(Place* place, bool fence);
  void Release(Place* place);
  // A worker that others may have waited for was lost or fenced: members that
  // wait for something get the full stall timeout again.
  void WaitAnew(absl::Time now);

  // Places whose holder sent nothing for longer than `timeout`.
  std::vector<Place*> Silent(absl::Duration timeout, absl::Time now);

  // Null if there is no such place.
  Place* Get(TaskId task);
  const std::map<TaskId, Place>& places() const { return places_; }
  int worker_count() const { return worker_count_; }
  // Number of workers whose place is taken.
  int LiveWorkers() const;

  // "; worker-0 waits for Push to ps-1 at …": what the members other than
  // `task` wait for. "" if they wait for nothing.
  std::string Waiting(TaskId task) const;

  // Internal, naming the place, unless:
  //  * A place is taken by an incarnation that was not removed. A place that is
  //    not taken was last held by a removed incarnation, or never held.
  //  * Only a member that holds a place waits for something. A rival of a place
  //    is not its holder.
  //  * The ranks of workers follow the order of places.
  // For tests; takes time in proportion to the places.
  absl::Status CheckInvariants() const;

 private:
  // Workers (with a chief that trains, first), then ps.
  std::map<TaskId, Place> places_;
  int worker_count_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MACHINE_MEMBERSHIP_H_
