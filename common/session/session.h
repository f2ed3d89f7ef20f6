// The life of a job, as a state machine without I/O.
//
// Whoever leads a job feeds events in (a registration, a heartbeat, the answer
// of a parameter server, the passing of time) and carries out the actions that
// come back. No thread, socket, clock or file is inside, so the same code runs
// under the leader's gRPC service and under a seeded simulation of thousands of
// tasks.
//
//            all there            leases done        (validation set)
//  WAITING ────────────> TRAINING ───────────> VALIDATING ──┐
//            ps hold        ^  ^ │                          │ leases done
//            variables      │  │ │ checkpoint due           v
//                           │  └─┴─ DRAINING ──> SNAPSHOT ──┤ next epoch
//                           └───────────────────────────────┘
//                                          last epoch │ (test set)
//                                                     v
//  (With connects_only it ends where training would begin, once all workers ask
//  for work.)
//
//  any state ── error, stop ──> ENDED <──────────── TESTING
//
// What is promised:
//  * Each example of an epoch is counted once, also when workers die: a dead
//    worker's incarnation is fenced on every shard before the rest of its
//    leases goes to others, and the shards tell how far it had come.
//  * The shards know the workers that the leader named to them, and no others:
//    none starts before it is admitted on every shard.
//  * Where workers step together, the loss of one ends the job.
//  * With terminate_on_nan, so does a loss of training that is not finite: its
//    first step and worker are named, and no checkpoint is taken after it.
//  * Each wait has a deadline, and its error names the task, its address and
//    what was waited for.
#ifndef PACELINE_COMMON_SESSION_SESSION_H_
#define PACELINE_COMMON_SESSION_SESSION_H_

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
#include "common/checkpoint/manifest.h"
#include "common/cluster/blame.h"
#include "common/cluster/cluster_spec.h"
#include "common/cluster/task.h"
#include "common/identity/job_identity.h"
#include "common/session/logged_metric.h"
#include "common/session/loss_watch.h"
#include "common/session/shard_steps.h"
#include "common/session/step_row.h"
#include "nlohmann/json_fwd.hpp"
#include "paceline/v1/coordinator.pb.h"
#include "paceline/v1/job.pb.h"
#include "paceline/v1/ps.pb.h"

namespace paceline {

// --- What the leader knows at the start --------------------------------------

struct ExpectedTask {
  TaskId id;
  // From TF_CONFIG; "" where the task tells it as it registers.
  std::string address;
};

struct SessionOptions {
  v1::Job job;
  // The ps and workers; not the leader's own coordinating part.
  std::vector<ExpectedTask> tasks;
  // The loss and the metrics of the job, as MakeLoggedMetrics makes them.
  std::vector<LoggedMetric> metrics = MakeLoggedMetrics({});
  std::string version;
  // Told to members as they register.
  JobIdentity identity;
  // Fingerprint of the job; compared with that of members that were given one.
  std::string job_fingerprint;
  // What TF_CONFIG lists; compared with what members were told. Empty without.
  ClusterSpec cluster;
  // Only brings the tasks together: once each worker has connected with all
  // that it would work with, the job has succeeded.
  bool connects_only = false;
  // Only evaluates data.test with the variables of this checkpoint; there is no
  // ps then. "": trains.
  std::string evaluate_checkpoint;
  // Below which checkpoints are written; told to members as they register.
  std::string checkpoint_folder;
  // The learning rate of the update that follows `iterations` updates. Must be
  // set to train.
  std::function<double(int64_t iterations)> learning_rate;
  // The checkpoint to go on from: its folder, and TakeCheckpoint::state of it.
  // "" and null: starts anew.
  std::string restore_path;
  std::shared_ptr<const nlohmann::json> restore;
  // By shard. Empty: nobody's count is compared.
  std::vector<StepCounter> counters;

  absl::Duration heartbeat_timeout;
  absl::Duration stall_timeout;
  absl::Duration start_timeout;
  // Until the leader can reach a ps that has registered.
  absl::Duration connect_timeout;
  absl::Duration shutdown_timeout;
};

// --- What comes back ---------------------------------------------------------

// A row of the history.
struct EpochRecord {
  // From 0.
  int epoch = 0;
  Logs logs;
  // Under "val_<name>"; empty without a validation set.
  Logs validation_logs;
  double learning_rate = 0;
  int64_t steps = 0;
  int64_t examples = 0;
  // Of training alone.
  double seconds = 0;
};

// Call Initialize on every shard; answer with ShardsInitialized.
struct InitializeShards {
  std::string restore_path;
  int worker_count = 0;
};

// Call Admit on every shard; answer with Admitted. Comes once the shards are
// initialised, and again for each process that takes a worker's place.
struct AdmitWorkers {
  std::vector<v1::WorkerId> workers;
};

// Call Fence on every shard; answer with Fenced.
struct FenceWorker {
  v1::WorkerId worker;
};

// Call Snapshot on every shard, answer with SnapshotTaken; then
// WriteCheckpoint, compare the counts of steps, write the manifest with
// `state`, delete old checkpoints, and answer with CheckpointWritten.
struct TakeCheckpoint {
  // Logical step of the leader's count; names the folder.
  int64_t step = 0;
  std::shared_ptr<const nlohmann::json> state;
  // By shard; empty as SessionOptions::counters.
  std::vector<StepBounds> shard_steps;
};

// A worker that holds the variables did what OrderSnapshot asked for.
struct CheckpointReported {
  // Of the checkpoint.
  std::string name;
  // Why the checkpoint failed, if it did.
  absl::Status status;
  // Set once it is on disk.
  std::optional<ShardFile> file;
};

// An epoch began, made progress, or ended: for the progress bar and the files.
struct EpochBegan {
  int epoch = 0;
  // Steps already done in it, before a resume.
  int64_t steps_done = 0;
};
struct EpochEnded {
  EpochRecord record;
};
// data.test was evaluated.
struct TestEnded {
  Logs logs;
};

// The job ended; members are told to leave. Comes once.
struct Ended {
  // OK: succeeded. Cancelled: stopped by the user. An error by which a task
  // blames another has that Blame, whose address is as the leader knows it.
  absl::Status status;
  // Who is to blame, if anybody.
  std::optional<TaskId> task;
};

// Waiting calls (AwaitStart, AcquireLease, Register) may have an answer now.
struct WakeWaiters {};

// Something worth a line in the log, such as a worker whose leases go to
// others.
struct Notice {
  std::string message;
};

using Action = std::variant<InitializeShards, AdmitWorkers, FenceWorker,
                            TakeCheckpoint, CheckpointReported, EpochBegan,
                            EpochEnded, TestEnded, Ended, WakeWaiters, Notice>;

// What happens now, for the progress bar.
struct ProgressView {
  v1::Phase phase = v1::PHASE_UNSPECIFIED;
  int epoch = 0;
  int64_t steps_done = 0;
  int64_t steps_total = 0;
  // Running values of this epoch; the loss alone where the metrics' come once a
  // lease.
  Logs logs;
};

// A task at the end, for result.json.
struct TaskView {
  TaskId id;
  std::string address;
  uint64_t incarnation = 0;
  uint64_t peak_rss_bytes = 0;
};

// --- The state machine -------------------------------------------------------

// Not thread-safe. `now` never goes back. Errors returned are for the caller of
// the RPC; errors of the job come as the action Ended.
class Session {
 public:
  // InvalidArgument if the options contradict themselves.
  static absl::StatusOr<std::unique_ptr<Session>> Create(SessionOptions options,
                                                         absl::Time now);
  ~Session();

  // Events: RPCs of members. FailedPrecondition: the incarnation was replaced
  // or is dead. A new incarnation takes a place only if the old one is gone.
  absl::StatusOr<v1::RegisterResponse> Register(
      const v1::RegisterRequest& request, absl::Time now);
  // nullopt: not yet. Ended jobs answer Cancelled.
  absl::StatusOr<std::optional<v1::AwaitStartResponse>> AwaitStart(
      const v1::AwaitStartRequest& request, absl::Time now);
  absl::StatusOr<std::optional<v1::AcquireLeaseResponse>> AcquireLease(
      const v1::AcquireLeaseRequest& request, absl::Time now);
  absl::StatusOr<v1::HeartbeatResponse> Heartbeat(
      const v1::HeartbeatRequest& request, absl::Time now);
  absl::Status ReportCheckpoint(const v1::ReportCheckpointRequest& request);
  absl::Status Leave(const v1::LeaveRequest& request, absl::Time now);

  // Events: answers to actions. An error ends the job, but for
  // CheckpointWritten, whose error ends it only if it was the last checkpoint
  // of the job. Fenced takes the answer of each shard, by shard.
  void ShardsInitialized(const absl::Status& status, int64_t step,
                         absl::Time now);
  void Admitted(const std::vector<v1::WorkerId>& workers,
                const absl::Status& status, absl::Time now);
  void Fenced(const v1::WorkerId& worker,
              const absl::StatusOr<std::vector<v1::FenceResponse>>& answers,
              absl::Time now);
  void SnapshotTaken(const absl::Status& status, absl::Time now);
  void CheckpointWritten(const absl::Status& status, absl::Time now);

  // Event: the worker of rank 0 is to copy the variables, which the workers
  // hold, for the checkpoint `name`. Returns who is to blame if it does not
  // come.
  Blame OrderSnapshot(const std::string& name);

  // Event: a process of the local cluster ended.
  void TaskExited(TaskId task, int exit_code, absl::Time now);
  // Event: the user wants the job to stop, or the leader cannot go on.
  void Stop(const absl::Status& reason, absl::Time now);
  // Event: time passed. To be called at least every 100 ms.
  void Tick(absl::Time now);

  // The actions since the last call, in order.
  std::vector<Action> TakeActions();

  ProgressView Progress() const;
  // Parts of the rows of steps.csv since the last call; only with log_steps.
  std::vector<StepRow> TakeStepRows();
  const std::vector<EpochRecord>& history() const;
  // The first loss of training that was not finite, if there was one.
  const std::optional<NonfiniteLoss>& nonfinite_loss() const;
  std::vector<TaskView> Tasks() const;
  bool ended() const;
  // Whether all members have left or are dead, or shutdown_timeout has passed
  // since the end.
  bool AllGone(absl::Time now) const;

  // Internal, naming what is wrong, if what the promises above rest on does not
  // hold: no event, whatever a peer sends, may lead there. In addition to what
  // Membership, JobFlow and LeaseTable say of themselves, as long as the job
  // goes on:
  //  * Who holds a lease is a member, or one that is not fenced everywhere yet.
  //  * A worker with work was admitted by all shards. Nobody who is gone is
  //    remembered as ready.
  //  * Somebody works; where workers step together, all do.
  //  * No loss of training was found that ends the job.
  // For tests; takes time in proportion to the tasks.
  absl::Status CheckInvariants() const;

 private:
  Session();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_SESSION_H_
