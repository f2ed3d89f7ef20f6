// Leads a job: serves its members, carries out the session's actions, shows the
// progress and collects the result.
//
// The coordinator runs a Leader, or worker 0 does beside its own training.
#ifndef PACELINE_COMMON_SESSION_LEADER_LEADER_H_
#define PACELINE_COMMON_SESSION_LEADER_LEADER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/read_fence.h"
#include "common/checkpoint/manifest_content.h"
#include "common/cluster/task.h"
#include "common/identity/caller.h"
#include "common/job/job_model.h"
#include "common/net/listener.h"
#include "common/rpc/health_service.h"
#include "common/rpc/rpc_server.h"
#include "common/rpc/tls.h"
#include "common/session/leader/callback_writer.h"
#include "common/session/leader/checkpoint_taker.h"
#include "common/session/leader/command_runner.h"
#include "common/session/leader/coordinator_service.h"
#include "common/session/leader/event_files.h"
#include "common/session/leader/http_posts.h"
#include "common/session/leader/model_saver.h"
#include "common/session/leader/outcome.h"
#include "common/session/leader/progress_bar.h"
#include "common/session/leader/shard_calls.h"
#include "common/session/leader/shared_session.h"
#include "common/session/leader/worker_checkpoints.h"
#include "common/session/machine/session.h"

namespace paceline {

struct LeaderOptions {
  v1::Job job;
  // For what opens the job's files.
  ReadFence fence;
  // The ps and workers, without a chief that only coordinates.
  std::vector<ExpectedTask> tasks;
  std::string version;
  // The task that leads, and the job's secret. Without a secret anybody may
  // call.
  TaskId self = {TaskType::kChief, 0};
  std::optional<JobSecret> secret;
  // Of all connections; null: they are plain.
  std::shared_ptr<const Tls> tls;
  // See SessionOptions.
  ClusterSpec cluster;
  bool connects_only = false;
  // A service's queue has placed all tasks, and does so again if the job wants
  // a restart.
  bool is_placed_by_queue = false;
  std::string evaluate_checkpoint;
  // See CallbackContext.
  bool allows_exec = false;
  // Of the programs that callbacks run, each "NAME=value".
  std::vector<std::string> program_environment;
  // The folder of the checkpoint to resume from; "": starts anew.
  std::string restore_path;
  // Whether only the model's variables are taken from `restore_path`, which the
  // phase before this one wrote.
  bool variables_only = false;
  // The name of the phase that `job` is; "": the job has none.
  std::string phase;
  // Whether another phase follows, for which members register again once this
  // one has succeeded.
  bool has_next_phase = false;
  // The fingerprint of the job file, with which members compare theirs; "":
  // that of `job`.
  std::string job_fingerprint;
  absl::Duration start_timeout;
  // "host:port"; port 0 picks a free port.
  std::string listen_address;
  // The socket at that address, if it is open already. Null: it is not.
  std::shared_ptr<const Listener> listener;
  // The output folder; checkpoints are written below it.
  std::string output_dir;
  absl::Time process_start;
  // The stream for the progress bar; must outlive the leader. Null: no bar.
  std::ostream* progress = nullptr;
  // Whether `progress` is a terminal.
  bool is_terminal = false;
  // The file in which those who follow the job from elsewhere find what a bar
  // shows; `progress` then gets lines. "": none.
  std::string progress_path;
};

// Call Run and report all events on one thread. gRPC's threads serve the
// members.
class Leader {
 public:
  // Starts to listen; members may register from now on.
  static absl::StatusOr<std::unique_ptr<Leader>> Start(LeaderOptions options);
  ~Leader();

  // The port it listens on.
  int port() const { return server_->port(); }

  // Leads until the job has ended and its members have left. Calls `poll` at
  // least every 50 ms; report the events below from there.
  //
  // Before the job starts, makes again what the checkpoint to resume from was
  // taken for, since the earlier run may not have done. Warns of what cannot be
  // written: the job may ask for other files now.
  Outcome Run(const std::function<void()>& poll);

  // Event: a process of the local cluster ended.
  void TaskExited(TaskId task, int exit_code);
  // Event: the job has to stop for this reason.
  void Stop(const absl::Status& reason);
  // The same, after a last checkpoint.
  void StopAfterCheckpoint(const absl::Status& reason);

 private:
  Leader(LeaderOptions options, std::unique_ptr<const JobModel> model,
         Manifest manifest, const JobIdentity& identity,
         std::unique_ptr<Session> session);

  void CarryOut(const InitializeShards& action);
  void CarryOut(const AdmitWorkers& action);
  void CarryOut(const FenceWorker& action);
  void CarryOut(const TakeCheckpoint& action);
  void CarryOut(const ChangeVariables& action);
  void CarryOut(const CheckpointReported& action);
  void CarryOut(const EpochBegan& action);
  void CarryOut(const EpochEnded& action);
  void CarryOut(const ServeCallbacks& action);
  void CarryOut(const TestBegan& action);
  void CarryOut(const TestEnded& action);
  void CarryOut(const Ended& action);
  void CarryOut(const WakeWaiters&) {}
  void CarryOut(const Notice& action);

  // Makes the next output of the checkpoint to resume from; once there is none,
  // the job may start.
  void RepeatNextSave();
  // The saver made an output, or could not.
  void OutputMade(const CheckpointOutput& output, const absl::Status& status);
  void MakeCheckpointTaker(VariableHolders& holders);
  // What a callback asked for was done, or not, which ends the job.
  void CallbackServed(const absl::Status& status);
  void ShowProgress();
  // Notes the time of the run's first step; `steps_done` are those of the
  // current epoch.
  void NoteFirstStep(int64_t steps_done);

  const LeaderOptions options_;
  // Owns the metrics that the session's options refer to.
  const std::unique_ptr<const JobModel> model_;
  // The manifest fields that all checkpoints have in common.
  const Manifest manifest_;
  // The leader as a caller of the parameter servers.
  const std::shared_ptr<Caller> caller_;
  SharedSession session_;
  CoordinatorService service_;
  HealthService health_;
  std::unique_ptr<RpcServer> server_;
  // The holders of the variables: the parameter servers, once their addresses
  // are known, or the workers.
  std::unique_ptr<ShardCalls> shards_;
  std::unique_ptr<WorkerCheckpoints> worker_checkpoints_;
  ProgressBar progress_bar_;
  CommandRunner commands_;
  HttpPosts posts_;
  EventFiles event_files_;
  CallbackWriter callback_writer_;
  const OutputPlaces output_places_;
  ModelSaver model_saver_;
  std::unique_ptr<CheckpointTaker> checkpoints_;
  // Of the checkpoint to resume from: what is to be made again, how much of it
  // was begun, and whether all is done.
  std::vector<CheckpointOutput> restored_saves_;
  size_t repeats_begun_ = 0;
  bool has_repeated_ = false;
  // Of the first output that failed.
  absl::Status callbacks_status_;
  // Steps of the current epoch that an earlier run took.
  int64_t resumed_steps_ = 0;
  Outcome outcome_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_LEADER_H_
