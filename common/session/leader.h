// Leads a job: serves its members, carries out the session's actions, and shows
// and keeps what comes of it.
//
// Whoever leads runs this: the coordinator, or worker 0 beside its own work.
#ifndef PACELINE_COMMON_SESSION_LEADER_H_
#define PACELINE_COMMON_SESSION_LEADER_H_

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
#include "common/checkpoint/manifest.h"
#include "common/cluster/task.h"
#include "common/identity/caller.h"
#include "common/job/job_model.h"
#include "common/rpc/rpc_server.h"
#include "common/session/checkpoint_taker.h"
#include "common/session/coordinator_service.h"
#include "common/session/outcome.h"
#include "common/session/progress_bar.h"
#include "common/session/session.h"
#include "common/session/shard_calls.h"
#include "common/session/shared_session.h"
#include "common/session/worker_checkpoints.h"

namespace paceline {

struct LeaderOptions {
  v1::Job job;
  // The ps and workers; not the leader's own coordinating part.
  std::vector<ExpectedTask> tasks;
  std::string version;
  // Which task leads, and the job's secret, without which anybody may call.
  TaskId self = {TaskType::kChief, 0};
  std::optional<JobSecret> secret;
  // See SessionOptions.
  ClusterSpec cluster;
  bool connects_only = false;
  std::string evaluate_checkpoint;
  // The folder of the checkpoint to go on from; "": starts anew.
  std::string restore_path;
  absl::Duration start_timeout;
  // "host:port"; port 0 takes a free one.
  std::string listen_address;
  // Gets the checkpoints.
  std::string output_dir;
  absl::Time process_start;
  // Gets the progress bar; outlives the leader.
  std::ostream* progress = nullptr;
  // Whether `progress` is a terminal.
  bool is_terminal = false;
};

// Run, and all events, are for one thread; members are served on threads of
// gRPC's.
class Leader {
 public:
  // Listens; members may register from now on.
  static absl::StatusOr<std::unique_ptr<Leader>> Start(LeaderOptions options);
  ~Leader();

  // The port it listens on.
  int port() const { return server_->port(); }

  // Leads until the job has ended and its members have left. Calls `poll` often
  // (every 50 ms at least): the place to report the events below.
  Outcome Run(const std::function<void()>& poll);

  // Event: a process of the local cluster ended.
  void TaskExited(TaskId task, int exit_code);
  // Event: the job is to stop.
  void Stop(const absl::Status& reason);

 private:
  Leader(LeaderOptions options, std::unique_ptr<const JobModel> model,
         Manifest manifest, const JobIdentity& identity,
         std::unique_ptr<Session> session);

  void CarryOut(const InitializeShards& action);
  void CarryOut(const AdmitWorkers& action);
  void CarryOut(const FenceWorker& action);
  void CarryOut(const TakeCheckpoint& action);
  void CarryOut(const CheckpointReported& action);
  void CarryOut(const EpochBegan& action);
  void CarryOut(const EpochEnded& action);
  void CarryOut(const TestEnded& action);
  void CarryOut(const Ended& action);
  void CarryOut(const WakeWaiters&) {}
  void CarryOut(const Notice& action);

  void MakeCheckpointTaker(VariableHolders& holders);
  void ShowProgress();

  const LeaderOptions options_;
  // Has the metrics whose values the session takes.
  const std::unique_ptr<const JobModel> model_;
  // Of its checkpoints: what does not change.
  const Manifest manifest_;
  // To the parameter servers.
  const std::shared_ptr<Caller> caller_;
  SharedSession session_;
  CoordinatorService service_;
  std::unique_ptr<RpcServer> server_;
  // Who holds the variables: parameter servers, once they are known, or the
  // workers.
  std::unique_ptr<ShardCalls> shards_;
  std::unique_ptr<WorkerCheckpoints> worker_checkpoints_;
  std::unique_ptr<CheckpointTaker> checkpoints_;
  ProgressBar progress_bar_;
  // Steps of the epoch at hand that an earlier run did.
  int64_t resumed_steps_ = 0;
  Outcome outcome_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_H_
