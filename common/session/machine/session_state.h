// The private state of Session, shared by its source files: session_start.cc
// has everything up to the start, session.cc the running job, session_orders.cc
// the orders to change variables, session_reports.cc what workers send for
// callbacks, session_failures.cc and session_losses.cc the
// failures, session_invariants.cc the invariants.
#ifndef PACELINE_COMMON_SESSION_MACHINE_SESSION_STATE_H_
#define PACELINE_COMMON_SESSION_MACHINE_SESSION_STATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/cluster/blame.h"
#include "common/job/job_model.h"
#include "common/session/machine/job_flow.h"
#include "common/session/machine/member_requests.h"
#include "common/session/machine/membership.h"
#include "common/session/machine/session.h"

namespace paceline {

struct Session::State {
  // Whether the shards have admitted a worker.
  enum class Admission { kNone, kAsked, kAdmitted };
  // What the session knows about the incarnation that holds a worker's place.
  struct Seat {
    // Set once the worker waits for the start.
    std::optional<Preparation> preparation;
    // The last lease and the number of the request for it.
    uint64_t request = 0;
    v1::Lease lease;
    // With parameter servers: a worker may push once the shards were asked to
    // admit it.
    Admission admission = Admission::kNone;
    // Whether the worker has asked for a lease, for which it has connected to
    // all the tasks that it works with.
    bool is_connected = false;
    // The number of the last order that the worker has carried out.
    uint64_t order = 0;
    // The largest step in the worker's rows of steps.csv.
    int64_t last_step = 0;
  };

  State(SessionOptions options_in, JobFlow flow_in, absl::Time now)
      : options(std::move(options_in)),
        members(options.tasks),
        flow(std::move(flow_in)),
        loss_watch(IsSynchronous(options.job) ? members.worker_count() : 1),
        shard_steps(options.counters),
        leader_ready(!options.awaits_leader),
        start_began(now) {}

  // Whether this phase of the job has succeeded, and another follows.
  bool GoesOn() const {
    return options.has_next_phase && outcome && outcome->ok();
  }
  bool HasPs() const {
    return static_cast<int>(members.places().size()) > members.worker_count();
  }
  // Whether the workers hold the variables.
  bool WorkersHoldVariables() const {
    return !HasPs() && options.evaluate_checkpoint.empty();
  }
  // Whether the loss of a worker ends the job, since each step needs every
  // worker's gradients.
  bool NeedsEveryWorker() const {
    return flow.started() && options.evaluate_checkpoint.empty() &&
           (options.connects_only || IsSynchronous(options.job));
  }
  void Wake() { actions.emplace_back(WakeWaiters()); }
  // Call it after each event of the flow: takes the flow's actions, and ends
  // the job when the flow is done.
  void FollowFlow(absl::Time now);
  void InitializeShardsIfAllThere(absl::Time now);
  // Ends the job, after a checkpoint if it takes some, unless others can do
  // without the task; such a worker leaves when it has finished its step.
  void AskedToLeave(const Place& place, absl::Time now);
  // Orders the initialisation of the shards, if an attempt is due.
  void AttemptShards(absl::Time now);
  // Orders the admission of the workers that no order has named yet.
  void AdmitWorkersIfReady();
  // Whether the worker can get leases: it has read its data, and the shards
  // have admitted it.
  bool IsReady(const Seat& seat) const {
    return seat.preparation &&
           (!HasPs() || seat.admission == Admission::kAdmitted);
  }
  void StartIfReady(absl::Time now);
  // Why a process cannot take its place in the job: it has another version, or
  // was given another job or cluster. "": it can. InvalidArgument if the
  // request itself is invalid.
  absl::StatusOr<std::string> Mismatch(
      const v1::RegisterRequest& request) const;
  // Refuses a process because of `mismatch`. Before the start this ends the
  // job, which would otherwise wait in vain for the right process.
  absl::Status Refuse(const Place& place, const std::string& mismatch,
                      absl::Time now);
  // Logs the refusal, unless the last such line was logged a moment ago.
  void NoticeRefusal(const absl::Status& refusal, absl::Time now);
  // A worker reports what it has read, and waits for the start.
  absl::Status Prepare(Place& place, const v1::AwaitStartRequest& request,
                       absl::Time now);
  // InvalidArgument, naming both workers, if another worker read data sets of
  // other sizes.
  absl::Status CheckSizes(const Place& place, const DataSizes& sizes);
  absl::StatusOr<std::optional<v1::AcquireLeaseResponse>> Acquire(
      Place* place, uint64_t request, absl::Time now);
  // The worker that sends a report for callbacks. InvalidArgument unless it
  // trains and such reports are `wanted`; `what` is "a trace".
  absl::StatusOr<Place*> FindReporter(const v1::Member& member, bool wanted,
                                      absl::string_view what);
  // Whether the job has succeeded, and the worker may still send a trace.
  bool AwaitsTrace(const Place& place) const;
  // What the callbacks have asked for because of a report.
  void Serve(Decision decision);
  // The first worker that has not carried out the order; null: there is none,
  // or no order.
  Place* AwaitedForOrder();
  // Ends the job if the order's deadline has passed.
  void CheckOrder(absl::Time now);
  // Takes the rows of steps.csv in a heartbeat; skips rows that came before.
  void TakeSteps(Seat& seat, const std::vector<StepRow>& rows);
  // Call it before the flow gets the report: records a non-finite loss, and
  // with terminate_on_nan ends the job. Returns whether it ended the job.
  bool WatchLoss(const Place& place, const LeaseReport& report, absl::Time now);
  std::string LossText(const NonfiniteLoss& loss);
  absl::Status LossError(const NonfiniteLoss& loss);
  bool AllConnected() const;
  // Whether the job is to end, but a worker would wait in vain for others that
  // have left for the next phase: a job that resumes at its end gives no work,
  // so workers may ask for it before others have connected to them.
  bool AwaitsPeers() const {
    return options.has_next_phase && WorkersHoldVariables() && !AllConnected();
  }

  // Ends the job, unless it has ended. The task to blame is that in the error,
  // else `task`. If the job fails while a non-finite loss is known, but not yet
  // which worker's was first, that loss becomes the reason. `is_departure`: a
  // task is gone that was asked to leave; so it is if the error says that such
  // a task could not be reached.
  void End(absl::Status status, std::optional<TaskId> task, absl::Time now,
           bool is_departure = false);
  // The member is lost. `reason` is the rest of the sentence "worker-1 at
  // 10.0.0.2:2222 …".
  void Lose(Place* place, absl::string_view reason, absl::Time now);
  void LoseWorker(Place* place, absl::string_view reason, absl::Time now);
  // Takes what the shards know of a fenced worker's last pushes.
  absl::Status TakeRecords(TaskId worker,
                           const std::vector<v1::FenceResponse>& answers,
                           absl::Time now);
  // The member left because of `error`.
  void LeaveWithError(Place* place, const absl::Status& error, absl::Time now);
  // Reads an error that a member reports. Drops its Blame if the job does not
  // have the task; otherwise sets the Blame's address to the one that the
  // leader knows.
  absl::Status ReadError(const v1::Error& proto);
  void CheckSilence(absl::Time now);
  void CheckStalls(absl::Time now);
  void CheckStart(absl::Time now);
  // The tasks for which the start waits: "ps-0 at 10.0.0.2:2222 (it has not
  // registered), …". Sets `first` to the first of them.
  std::string Missing(std::optional<TaskId>* first);

  absl::Status CheckInvariants() const;
  absl::Status CheckPlace(const Place& place) const;

  const SessionOptions options;
  Membership members;
  JobFlow flow;
  LossWatch loss_watch;
  // Set once it is known which worker's non-finite loss was the first.
  std::optional<NonfiniteLoss> nonfinite_loss;
  ShardSteps shard_steps;
  // Whether nothing of the leader's is to be done before the start, and since
  // when the start may take start_timeout.
  bool leader_ready;
  // All ps have registered; all shards hold their variables.
  bool shards_requested = false;
  bool shards_ready = false;
  // Whether a worker has sent images.
  bool has_images = false;
  absl::Time start_began;
  std::map<TaskId, Seat> seats;
  // Until when a ps that cannot be reached is retried, and when the next
  // attempt is due, if any.
  absl::Time shards_deadline;
  std::optional<absl::Time> next_shards_attempt;
  absl::Time next_refusal_notice = absl::InfinitePast();
  // The checkpoint for which rank 0 is to copy the variables; "": none.
  std::string snapshot_name;
  // The last order to the workers, and its deadline.
  std::optional<v1::VariablesOrder> order;
  absl::Time order_deadline;
  // The workers that have sent a trace.
  std::set<TaskId> traced;
  // The members that were asked to leave, also once they are gone.
  std::set<TaskId> asked_to_leave;
  // The first of them that the job cannot do without: it ends early.
  std::optional<TaskId> leaving;
  // Why the job ends early without such a task.
  std::optional<absl::Status> stop_reason;
  std::optional<absl::Status> outcome;
  absl::Time ended_at;
  std::vector<Action> actions;
  std::vector<StepRow> steps;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MACHINE_SESSION_STATE_H_
