// The inside of Session, shared by its files: session_start.cc has all up to
// the start, session.cc what goes well from then on, session_failures.cc what
// does not, session_invariants.cc what holds in any case.
#ifndef PACELINE_COMMON_SESSION_SESSION_STATE_H_
#define PACELINE_COMMON_SESSION_SESSION_STATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/cluster/blame.h"
#include "common/job/job_model.h"
#include "common/session/job_flow.h"
#include "common/session/member_requests.h"
#include "common/session/membership.h"
#include "common/session/session.h"

namespace paceline {

struct Session::State {
  // Whether the shards let a worker in.
  enum class Admission { kNone, kAsked, kAdmitted };
  // What the session knows of the incarnation that holds a worker's place.
  struct Seat {
    // Set once it waits for the start.
    std::optional<Preparation> preparation;
    // The last lease and the number of its request.
    uint64_t request = 0;
    v1::Lease lease;
    // With parameter servers. It may push once it was asked for.
    Admission admission = Admission::kNone;
    // Whether it has connected with those it would work with.
    bool is_connected = false;
    // The last of its rows of steps.csv.
    int64_t last_step = 0;
  };

  State(SessionOptions options_in, JobFlow flow_in, absl::Time now)
      : options(std::move(options_in)),
        members(options.tasks),
        flow(std::move(flow_in)),
        loss_watch(IsSynchronous(options.job) ? members.worker_count() : 1),
        shard_steps(options.counters),
        created(now) {}

  bool HasPs() const {
    return static_cast<int>(members.places().size()) > members.worker_count();
  }
  // Whether the workers hold the variables of the training.
  bool WorkersHoldVariables() const {
    return !HasPs() && options.evaluate_checkpoint.empty();
  }
  // Whether the loss of a worker is the loss of the job: the others' steps need
  // its gradients.
  bool NeedsEveryWorker() const {
    return flow.started() && options.evaluate_checkpoint.empty() &&
           (options.connects_only || IsSynchronous(options.job));
  }
  void Wake() { actions.push_back(WakeWaiters()); }
  // After each call of the flow: takes its actions, and ends the job when all
  // is done.
  void FollowFlow(absl::Time now);
  void InitializeShardsIfAllThere(absl::Time now);
  // Has the shards initialised, if an attempt is due.
  void AttemptShards(absl::Time now);
  // Has the shards admit the workers that they were not asked for yet.
  void AdmitWorkersIfReady();
  // Whether the worker can work: it has read its data, and the shards let it
  // in.
  bool IsReady(const Seat& seat) const {
    return seat.preparation &&
           (!HasPs() || seat.admission == Admission::kAdmitted);
  }
  void StartIfReady(absl::Time now);
  // Why a process that asks for a place of the job cannot have it, "" if it
  // can: it is of another version, or was told of another job or cluster.
  // InvalidArgument if the request is no possible one.
  absl::StatusOr<std::string> Mismatch(
      const v1::RegisterRequest& request) const;
  // Turns such a process away. Before the start the job ends: it would wait for
  // the right one in vain.
  absl::Status Refuse(const Place& place, const std::string& mismatch,
                      absl::Time now);
  // Tells people of a process that was turned away; not of each.
  void NoticeRefusal(const absl::Status& refusal, absl::Time now);
  // A worker tells what it has read: it can work from now on.
  absl::Status Prepare(Place& place, const v1::AwaitStartRequest& request,
                       absl::Time now);
  // InvalidArgument if another worker read other sets; names both.
  absl::Status CheckSizes(const Place& place, const DataSizes& sizes);
  absl::StatusOr<std::optional<v1::AcquireLeaseResponse>> Acquire(
      Place* place, uint64_t request, absl::Time now);
  // Rows of steps.csv in a heartbeat; those that came before are dropped.
  void TakeSteps(Seat& seat, const std::vector<StepRow>& rows);
  // Looks at a report of a member before the flow does: notes a loss that is
  // not finite, and with terminate_on_nan ends the job; returns whether it did.
  bool WatchLoss(const Place& place, const LeaseReport& report, absl::Time now);
  std::string LossText(const NonfiniteLoss& loss);
  absl::Status LossError(const NonfiniteLoss& loss);
  // With connects_only: ends the job once all workers are connected.
  void EndIfConnected(absl::Time now);

  // Ends the job, unless it ended before. `task` is to blame, unless the error
  // blames one. A failure while it is not known yet whose loss was bad first is
  // put down to that.
  void End(absl::Status status, std::optional<TaskId> task, absl::Time now);
  // The member is gone; `reason` continues "worker-1 at 10.0.0.2:2222 …".
  void Lose(Place* place, absl::string_view reason, absl::Time now);
  void LoseWorker(Place* place, absl::string_view reason, absl::Time now);
  // What the shards say of a worker that is shut out.
  absl::Status TakeRecords(TaskId worker,
                           const std::vector<v1::FenceResponse>& answers,
                           absl::Time now);
  // The member left because of `error`.
  void LeaveWithError(Place* place, const absl::Status& error, absl::Time now);
  // An error that a member tells of. It blames a task only if the job has that
  // task, and at the address that the task has here.
  absl::Status ReadError(const v1::Error& proto);
  void CheckSilence(absl::Time now);
  void CheckStalls(absl::Time now);
  void CheckStart(absl::Time now);
  // "ps-0 at 10.0.0.2:2222 (never registered), …".
  std::string Missing(std::optional<TaskId>* first);

  absl::Status CheckInvariants() const;
  absl::Status CheckPlace(const Place& place) const;

  const SessionOptions options;
  Membership members;
  JobFlow flow;
  LossWatch loss_watch;
  // Set once it is known whose was the first.
  std::optional<NonfiniteLoss> nonfinite_loss;
  ShardSteps shard_steps;
  const absl::Time created;
  std::map<TaskId, Seat> seats;
  // Whether all ps have been there; until when one that cannot be reached is
  // tried again; the next attempt, if one is due or planned; whether all hold
  // variables.
  bool shards_requested = false;
  absl::Time shards_deadline;
  std::optional<absl::Time> next_shards_attempt;
  bool shards_ready = false;
  absl::Time next_refusal_notice = absl::InfinitePast();
  // The checkpoint for which the variables are to be copied; "": none.
  std::string snapshot_name;
  std::optional<absl::Status> outcome;
  absl::Time ended_at;
  std::vector<Action> actions;
  std::vector<StepRow> steps;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_SESSION_STATE_H_
