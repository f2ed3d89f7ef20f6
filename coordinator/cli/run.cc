#include "coordinator/cli/run.h"

#include <glog/logging.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/exit_code.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/cluster/cluster_spec.h"
#include "common/cluster/role.h"
#include "common/cluster/tf_config.h"
#include "common/job/job_reader.h"
#include "common/limits.h"
#include "common/rpc/tls.h"
#include "common/session/leader/lead_job.h"
#include "common/session/leader/run_setup.h"
#include "common/strategy/strategy_traits.h"
#include "coordinator/local_task_processes.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

std::string DefaultOutput(const RunOptions& options, const v1::Job& job) {
  return absl::StrCat("out/", job.name(),
                      !options.evaluate_checkpoint.empty() ? "/evaluate"
                      : options.connects_only              ? "/validate"
                                                           : "");
}

// InvalidArgument unless TF_CONFIG's task is a chief that leads but does not
// train: other programs run all other tasks.
absl::Status CheckOnlyLeads(const TfConfig& config, const v1::Job& job) {
  if (!StrategyOf(job).has_parameter_servers()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "TF_CONFIG: task ", config.task.ToString(), " trains under strategy ",
        StrategyOf(job).name,
        "; expected the program \"worker\" with --job and --output"));
  }
  if (config.task.type != TaskType::kChief) {
    return absl::InvalidArgumentError(absl::StrCat(
        "TF_CONFIG: task.type: \"", TaskTypeName(config.task.type),
        "\" is run by the program of that name; expected \"chief\""));
  }
  return absl::OkStatus();
}

// Sets the leader's cluster, and where it listens.
absl::Status PlaceLeader(const RunOptions& options, LeaderOptions& leader) {
  if (options.tf_config.empty()) {
    leader.tasks = LocalTasks(leader.job, !options.evaluate_checkpoint.empty());
    leader.listen_address = "127.0.0.1:0";
    leader.secret = JobSecret::Draw();
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const TfConfig config, ParseTfConfig(options.tf_config));
  for (const std::string& note : config.notes) LOG(WARNING) << note;
  ASSIGN_OR_RETURN(leader.tasks, TasksOf(config, leader.job));
  if (!options.connects_only) {
    RETURN_IF_ERROR(CheckOnlyLeads(config, leader.job));
  }
  ASSIGN_OR_RETURN(leader.secret,
                   FindJobSecret(options.secret, config.cluster));
  leader.cluster = config.cluster;
  leader.self = config.task;
  leader.listen_address =
      ListenAddress(config.cluster, *config.cluster.address(config.task));
  return absl::OkStatus();
}

absl::StatusOr<LeaderOptions> MakeLeaderOptions(const RunOptions& options,
                                                v1::Job job) {
  const bool evaluate = !options.evaluate_checkpoint.empty();
  LeaderOptions leader;
  leader.output_dir =
      fs::absolute(!options.output_dir.empty() ? options.output_dir
                                               : DefaultOutput(options, job))
          .string();
  if (evaluate) {
    ASSIGN_OR_RETURN(leader.evaluate_checkpoint,
                     FindLatestCheckpoint(options.evaluate_checkpoint));
  }
  leader.job = std::move(job);
  RETURN_IF_ERROR(PlaceLeader(options, leader));
  ASSIGN_OR_RETURN(leader.tls, Tls::Load(options.tls));
  leader.version = PACELINE_VERSION;
  leader.start_timeout = absl::Seconds(options.start_timeout_seconds);
  leader.process_start = options.process_start;
  // The user who starts the run chooses the job.
  leader.allows_exec = true;
  leader.program_environment = options.program_environment;
  leader.connects_only = options.connects_only;
  leader.progress =
      options.connects_only || options.print_json ? nullptr : &std::cout;
  leader.is_terminal = isatty(STDOUT_FILENO) == 1;
  return leader;
}

// With TF_CONFIG, users start all tasks by hand. The exception is the leader's
// own worker, if it trains.
bool IsOwnWork(const ExpectedTask& task, const LeaderOptions& leader) {
  return task.id == LeaderOf(leader.cluster);
}

bool TrainsLocally(const RunOptions& options) {
  return options.tf_config.empty() && options.evaluate_checkpoint.empty() &&
         !options.connects_only;
}

std::unique_ptr<OwnTasks> MakeOwnTasks(const RunOptions& options,
                                       const LeaderOptions& leader,
                                       std::function<bool()> interrupted) {
  LocalClusterOptions cluster;
  cluster.job_path = options.job_path;
  cluster.overrides = options.overrides;
  cluster.output_dir = leader.output_dir;
  cluster.program_folder = options.program_folder;
  cluster.tls = options.tls;
  cluster.data = options.data;
  cluster.log_folder = leader.output_dir + "/logs";
  // Tasks that this program starts get the secret through a pipe.
  if (leader.secret) cluster.secret = leader.secret->text();
  for (const ExpectedTask& task : leader.tasks) {
    if (options.tf_config.empty() || IsOwnWork(task, leader)) {
      cluster.tasks.push_back(task.id);
    }
  }
  if (TrainsLocally(options) && leader.job.evaluator()) {
    cluster.tasks.push_back(kEvaluator);
  }
  return std::make_unique<LocalTaskProcesses>(std::move(cluster),
                                              std::move(interrupted));
}

absl::StatusOr<LeaderOptions> ReadLeaderOptions(const RunOptions& options) {
  JobReaderOptions reader;
  // With TF_CONFIG, the data is on the workers' machines.
  reader.check_files = options.tf_config.empty();
  ASSIGN_OR_RETURN(v1::Job job,
                   ReadJobFile(options.job_path, options.overrides, reader));
  return MakeLeaderOptions(options, std::move(job));
}

}  // namespace

int RunJob(const RunOptions& options, Interrupt& interrupt) {
  absl::StatusOr<LeaderOptions> leader = ReadLeaderOptions(options);
  if (!leader.ok()) {
    std::cerr << "error: " << leader.status().message() << "\n";
    return kBadInput;
  }
  const auto interrupted = [&] { return interrupt.Taken(); };
  const std::unique_ptr<OwnTasks> own_tasks =
      MakeOwnTasks(options, *leader, interrupted);
  return LeadJob(
      {*std::move(leader), options.resume, options.print_json, interrupted},
      *own_tasks);
}

}  // namespace paceline
