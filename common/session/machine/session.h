// The life of a job, as a state machine without I/O.
//
// The leader feeds in events (a registration, a heartbeat, an answer of a
// parameter server, the passing of time) and carries out the actions that come
// back. The session has no thread, socket, clock or file, so the same code runs
// under the leader's gRPC service and under a seeded simulation of hundreds of
// tasks (tests/simulation).
//
//            all there            leases done        (validation set)
//  WAITING ────────────> TRAINING ───────────> VALIDATING ──┐
//            ps hold        ^  ^ │                          │ leases done
//            variables      │  │ │ checkpoint due           v
//                           │  └─┴─ DRAINING ──> SNAPSHOT ──┤ next epoch
//                           └───────────────────────────────┘
//            (CHANGING the variables)      last epoch │ (test set)
//                                                     v
//  any state ── error, stop ──> ENDED <──────────── TESTING
//
// With connects_only the job ends where training would begin, once all workers
// ask for leases.
//
// Promises:
//  * Each example of an epoch is counted once, even if workers die: a dead
//    worker's incarnation is fenced on every shard before other workers get the
//    rest of its leases, and the shards' answers say how far it had come.
//  * Shards accept pushes only from workers that the leader has named to them.
//    No worker starts before every shard has admitted it.
//  * Where workers step together, the loss of one worker ends the job.
//  * With terminate_on_nan, a training loss that is not finite ends the job:
//    the error names the first such step and its worker, and no checkpoint is
//    taken after it.
//  * With has_next_phase, members of a job that has succeeded are told so, and
//    none is told to end.
//  * Each state has a deadline: for the start, for silent and for stalled
//    members, for answers of the parameter servers, and for the end. If it
//    passes, the error names the task, its address and what was waited for.
#ifndef PACELINE_COMMON_SESSION_MACHINE_SESSION_H_
#define PACELINE_COMMON_SESSION_MACHINE_SESSION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/callback/callback.h"
#include "common/callback/callback_list.h"
#include "common/checkpoint/manifest_content.h"
#include "common/cluster/blame.h"
#include "common/cluster/cluster_spec.h"
#include "common/cluster/task.h"
#include "common/identity/job_identity.h"
#include "common/session/machine/logged_metric.h"
#include "common/session/machine/loss_watch.h"
#include "common/session/machine/shard_steps.h"
#include "common/session/machine/step_row.h"
#include "nlohmann/json_fwd.hpp"
#include "paceline/v1/coordinator.pb.h"
#include "paceline/v1/job.pb.h"
#include "paceline/v1/ps.pb.h"

namespace paceline {

// --- What the leader knows at the start --------------------------------------

struct ExpectedTask {
  TaskId id;
  // The address in TF_CONFIG; "" if the task reports it when it registers.
  std::string address;
};

struct SessionOptions {
  v1::Job job;
  // The ps and workers, without a chief that only coordinates.
  std::vector<ExpectedTask> tasks;
  // The loss and the metrics of the job, as MakeLoggedMetrics makes them.
  std::vector<LoggedMetric> metrics = MakeLoggedMetrics({});
  std::string version;
  // Sent to members when they register.
  JobIdentity identity;
  // Fingerprint of the job, compared with that of members that were given one.
  std::string job_fingerprint;
  // The cluster in TF_CONFIG, compared with that of members; empty without
  // TF_CONFIG.
  ClusterSpec cluster;
  // Only connects the tasks: the job succeeds once each worker has connected to
  // all the tasks that it would work with.
  bool connects_only = false;
  // Nobody starts another process in the place of a task that is lost, so the
  // loss of a worker before the start ends the job.
  bool places_once = false;
  // Only evaluates data.test with the variables of this checkpoint, without ps
  // tasks. "": trains.
  std::string evaluate_checkpoint;
  // The folder below which checkpoints are written; sent to members when they
  // register.
  std::string checkpoint_folder;
  // The learning rate of the update after `iterations` updates. Must be set for
  // training.
  std::function<double(int64_t iterations)> learning_rate;
  // See Optimizer::calls_per_update.
  int64_t calls_per_update = 1;
  // Of this session alone. Null: none.
  std::shared_ptr<CallbackList> callbacks;
  // The checkpoint to resume from: its folder, and the TakeCheckpoint::state in
  // its manifest. "" and null: starts anew.
  std::string restore_path;
  std::shared_ptr<const nlohmann::json> restore;
  // Whether only the model's variables are restored from `restore_path`, which
  // an earlier phase of the job wrote; `restore` is null.
  bool variables_only = false;
  // Whether another phase of the job follows once this one has succeeded:
  // members are then told to register again instead of to end.
  bool has_next_phase = false;
  // Whether the leader has something to do before the job may start: the
  // parameter servers initialise nothing, no lease is granted, and
  // start_timeout does not run before LeaderReady.
  bool awaits_leader = false;
  // By shard. Empty: no shard's step count is compared with the leader's.
  std::vector<StepCounter> counters;

  absl::Duration heartbeat_timeout;
  absl::Duration stall_timeout;
  // From the session's beginning (or LeaderReady), or the last activity that a
  // task reported before the start, until all tasks are ready.
  absl::Duration start_timeout;
  // How long to retry a ps that has registered but cannot be reached.
  absl::Duration connect_timeout;
  absl::Duration shutdown_timeout;
};

// --- What comes back ---------------------------------------------------------

// A row of history.csv.
struct EpochRecord {
  // From 0.
  int epoch = 0;
  Logs logs;
  // Keys are "val_<name>"; empty without a validation set.
  Logs validation_logs;
  double learning_rate = 0;
  int64_t steps = 0;
  int64_t examples = 0;
  // Those of `examples`, and of the validation's, that `on_error: skip` left
  // out. history.csv has neither.
  int64_t skipped_examples = 0;
  int64_t skipped_validation_examples = 0;
  // Time of training alone, without validation.
  double seconds = 0;
};

// Order: call Initialize on every shard, then ShardsInitialized.
struct InitializeShards {
  std::string restore_path;
  int worker_count = 0;
  // See SessionOptions.
  bool variables_only = false;
};

// Order: call Admit on every shard, then Admitted. Issued once the shards are
// initialised, and again for each process that takes a worker's place later.
struct AdmitWorkers {
  std::vector<v1::WorkerId> workers;
};

// Order: call Fence on every shard, then Fenced.
struct FenceWorker {
  v1::WorkerId worker;
};

// Order: call Snapshot on every shard, then SnapshotTaken. After that call
// WriteCheckpoint, compare the step counts, write the manifest with `state`,
// delete old checkpoints, then CheckpointWritten.
struct TakeCheckpoint {
  // Logical step, counted by the leader; names the folder.
  int64_t step = 0;
  std::shared_ptr<const nlohmann::json> state;
  // Bounds of each shard's step count; empty if SessionOptions::counters is.
  std::vector<StepBounds> shard_steps;
  // To be made of the checkpoint before CheckpointWritten.
  std::vector<CheckpointOutput> saves;
  // Whether it is kept, in the place of the one that was kept before, until
  // ChangeVariables.
  bool is_kept = false;
};

// Order: have the variables changed as `order` says; with KIND_LOAD its
// checkpoint is the one that was kept last. On parameter servers: call
// ChangeVariables on every shard, then VariablesChanged. On workers:
// OrderVariables.
struct ChangeVariables {
  v1::VariablesOrder order;
};

// A worker that holds the variables carried out OrderSnapshot.
struct CheckpointReported {
  // The checkpoint's name.
  std::string name;
  // Why the checkpoint failed, if it did.
  absl::Status status;
  // Set once the file is on disk.
  std::optional<ShardFile> file;
};

// An epoch began or ended: for the progress bar and the files.
struct EpochBegan {
  int epoch = 0;
  // Steps of this epoch that were taken before a resume.
  int64_t steps_done = 0;
};
struct EpochEnded {
  EpochRecord record;
};
// The evaluation of data.test begins, or has ended: the same.
struct TestBegan {};
struct TestEnded {
  int64_t steps = 0;
  Logs logs;
};

// Order: do what callbacks ask for, in this order. What they ask for at the end
// of an epoch comes before its EpochEnded, as Keras' bar comes after them. When
// a RunCommand has ended, call CommandEnded.
struct ServeCallbacks {
  std::vector<CallbackOutput> outputs;
};

// The job ended, and members are told to leave. Issued once.
struct Ended {
  // OK: succeeded. Cancelled: stopped by the user. If a task blamed another
  // task, the error has that Blame, with the address that the leader knows.
  absl::Status status;
  // The task to blame, if any.
  std::optional<TaskId> task;
  // The job ends because a task was asked to leave that it cannot do without.
  // It has not failed: with another process in that place it could go on. Other
  // errors, also while it takes its last checkpoint, are failures.
  bool is_departure = false;
};

// Calls that wait (AwaitStart, AcquireLease, Register) may now have an answer.
struct WakeWaiters {};

// A line for the log, such as that a lost worker's leases go to others.
struct Notice {
  std::string message;
};

using Action = std::variant<InitializeShards, AdmitWorkers, FenceWorker,
                            TakeCheckpoint, ChangeVariables, CheckpointReported,
                            EpochBegan, EpochEnded, ServeCallbacks, TestBegan,
                            TestEnded, Ended, WakeWaiters, Notice>;

// The current progress, for the progress bar.
struct ProgressView {
  v1::Phase phase = v1::PHASE_UNSPECIFIED;
  int epoch = 0;
  int64_t steps_done = 0;
  int64_t steps_total = 0;
  // Running metrics of this epoch. Only the loss if the metrics are reported
  // once per lease.
  Logs logs;
};

// A task at the end of the job, for result.json.
struct TaskView {
  TaskId id;
  std::string address;
  uint64_t incarnation = 0;
  uint64_t peak_rss_bytes = 0;
};

// --- The state machine -------------------------------------------------------

// Not thread-safe. `now` must never go back. A returned error is the answer to
// the RPC's caller; errors of the job become the action Ended.
class Session {
 public:
  // InvalidArgument if the options contradict themselves.
  static absl::StatusOr<std::unique_ptr<Session>> Create(SessionOptions options,
                                                         absl::Time now);
  ~Session();

  // Events: RPCs of members. FailedPrecondition: the incarnation was replaced
  // or is lost. A new incarnation can take a place only after the old one is
  // gone.
  absl::StatusOr<v1::RegisterResponse> Register(
      const v1::RegisterRequest& request, absl::Time now);
  // nullopt: no answer yet; ask again after WakeWaiters. Cancelled: the job has
  // ended.
  absl::StatusOr<std::optional<v1::AwaitStartResponse>> AwaitStart(
      const v1::AwaitStartRequest& request, absl::Time now);
  absl::StatusOr<std::optional<v1::AcquireLeaseResponse>> AcquireLease(
      const v1::AcquireLeaseRequest& request, absl::Time now);
  absl::StatusOr<v1::HeartbeatResponse> Heartbeat(
      const v1::HeartbeatRequest& request, absl::Time now);
  absl::Status ReportCheckpoint(const v1::ReportCheckpointRequest& request);
  absl::Status ReportOrder(const v1::ReportOrderRequest& request,
                           absl::Time now);
  // Of each worker the first trace counts, and of all the first images.
  // InvalidArgument: the report is impossible, or no callback wants it.
  absl::Status ReportTrace(const v1::ReportTraceRequest& request);
  absl::Status ReportImages(const v1::ReportImagesRequest& request);
  absl::Status Leave(const v1::LeaveRequest& request, absl::Time now);

  // Events: answers to orders. An error ends the job, except that of
  // CheckpointWritten, which ends it only if this was the last checkpoint of
  // the job, or one that is kept. Fenced takes the answers of all shards, by
  // shard.
  void ShardsInitialized(const absl::Status& status, int64_t step,
                         absl::Time now);
  void Admitted(const std::vector<v1::WorkerId>& workers,
                const absl::Status& status, absl::Time now);
  void Fenced(const v1::WorkerId& worker,
              const absl::StatusOr<std::vector<v1::FenceResponse>>& answers,
              absl::Time now);
  void SnapshotTaken(const absl::Status& status, absl::Time now);
  void CheckpointWritten(const absl::Status& status, absl::Time now);
  void VariablesChanged(const absl::Status& status, absl::Time now);

  // Event: a program that a callback asked for has ended; see
  // Callback::Answered.
  void CommandEnded(const RunCommand& run,
                    const absl::StatusOr<std::string>& output, absl::Time now);

  // Event: workers hold the variables, and a checkpoint is due. The worker of
  // rank 0 gets the order to copy the variables for the checkpoint `name` with
  // its next AcquireLease. Returns whom to blame if no copy is reported.
  Blame OrderSnapshot(const std::string& name);

  // Event: workers hold the variables, and these are to be changed. Each worker
  // gets the order with its next AcquireLease. The session waits for all
  // reports, until a deadline.
  void OrderVariables(const v1::VariablesOrder& order, absl::Time now);

  // Event: what the start waited for by `awaits_leader` is done.
  void LeaderReady(absl::Time now);

  // Event: a process of the local cluster ended.
  void TaskExited(TaskId task, int exit_code, absl::Time now);
  // Event: the user stops the job, or the leader cannot go on.
  void Stop(const absl::Status& reason, absl::Time now);
  // Event: the job has to end for this reason, after a checkpoint of what was
  // trained if it takes some. Open leases are finished before.
  void StopAfterCheckpoint(const absl::Status& reason, absl::Time now);
  // Event: time passed. Call it at least every 100 ms.
  void Tick(absl::Time now);

  // The actions since the last call, in order.
  std::vector<Action> TakeActions();

  ProgressView Progress() const;
  // New parts of rows of steps.csv since the last call; only with log_steps.
  std::vector<StepRow> TakeStepRows();
  const std::vector<EpochRecord>& history() const;
  // The first training loss that was not finite, if any.
  const std::optional<NonfiniteLoss>& nonfinite_loss() const;
  std::vector<TaskView> Tasks() const;
  bool ended() const;
  // Whether all members have left or are lost, or shutdown_timeout has passed
  // since the job ended.
  bool AllGone(absl::Time now) const;

  // Internal, naming the broken invariant, unless all invariants hold on which
  // the promises above rest. No event may break them, whatever a peer sends. In
  // addition to those of Membership, JobFlow and LeaseTable, while the job
  // runs:
  //  * A worker with a lease is a member, or not fenced on all shards yet.
  //  * All shards have admitted each worker with a lease. No lost worker is
  //    remembered as ready.
  //  * At least one worker is a member; where workers step together, all are.
  //  * No loss was found that ends the job.
  // For tests; takes time in proportion to the tasks.
  absl::Status CheckInvariants() const;

 private:
  Session();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MACHINE_SESSION_H_
