#include "coordinator/cli/run.h"

#include <glog/logging.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/cluster/tf_config.h"
#include "common/job/job_reader.h"
#include "common/limits.h"
#include "common/session/leader.h"
#include "common/session/outcome.h"
#include "common/session/run_setup.h"
#include "coordinator/cli/exit_code.h"
#include "coordinator/local_cluster.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

std::string DefaultOutput(const v1::Job& job, bool evaluate) {
  return absl::StrCat("out/", job.name(), evaluate ? "/evaluate" : "");
}

int Fail(const absl::Status& status, int code) {
  std::cerr << "error: " << status.message() << "\n";
  return code;
}

// Sets who is in the cluster, and where the leader listens.
absl::Status PlaceLeader(const RunOptions& options, LeaderOptions& leader) {
  if (options.tf_config.empty()) {
    leader.tasks = LocalTasks(leader.job, !options.evaluate_checkpoint.empty());
    leader.listen_address = "127.0.0.1:0";
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const TfConfig config, ParseTfConfig(options.tf_config));
  for (const std::string& note : config.notes) LOG(WARNING) << note;
  ASSIGN_OR_RETURN(leader.tasks, TasksOf(config, leader.job));
  if (config.task.type != TaskType::kChief) {
    return absl::InvalidArgumentError(absl::StrCat(
        "TF_CONFIG: task.type: \"", TaskTypeName(config.task.type),
        "\" is run by the program of that name; expected \"chief\""));
  }
  leader.listen_address = ListenAddress(*config.cluster.address(config.task));
  return absl::OkStatus();
}

absl::StatusOr<LeaderOptions> MakeLeaderOptions(const RunOptions& options,
                                                v1::Job job) {
  const bool evaluate = !options.evaluate_checkpoint.empty();
  LeaderOptions leader;
  leader.output_dir =
      fs::absolute(!options.output_dir.empty() ? options.output_dir
                                               : DefaultOutput(job, evaluate))
          .string();
  if (evaluate) {
    ASSIGN_OR_RETURN(leader.evaluate_checkpoint,
                     FindLatestCheckpoint(options.evaluate_checkpoint));
  }
  if (options.resume) {
    ASSIGN_OR_RETURN(leader.restore_path,
                     FindLatestCheckpoint(leader.output_dir + "/checkpoint"));
  }
  leader.job = std::move(job);
  RETURN_IF_ERROR(PlaceLeader(options, leader));
  leader.version = PACELINE_VERSION;
  leader.start_timeout = absl::Seconds(options.start_timeout_seconds);
  leader.process_start = options.process_start;
  leader.progress = evaluate ? nullptr : &std::cout;
  leader.is_terminal = isatty(STDOUT_FILENO) == 1;
  return leader;
}

// The tasks of this machine; none if they are started by hand.
absl::StatusOr<LocalCluster> StartTasks(const RunOptions& options,
                                        const LeaderOptions& leader_options,
                                        int port) {
  LocalClusterOptions cluster;
  cluster.program_folder = options.program_folder;
  cluster.log_folder = leader_options.output_dir + "/logs";
  cluster.coordinator_address = absl::StrCat("127.0.0.1:", port);
  if (options.tf_config.empty()) {
    RETURN_IF_ERROR(MakeDirectories(cluster.log_folder));
    for (const ExpectedTask& task : leader_options.tasks) {
      cluster.tasks.push_back(task.id);
    }
  }
  return LocalCluster::Start(cluster);
}

// Prints the values of data.test.
void PrintEvaluation(const Logs& logs, bool as_json) {
  nlohmann::ordered_json values;
  std::vector<std::string> texts;
  for (const auto& [name, value] : logs) {
    values[name] = value;
    texts.push_back(absl::StrFormat("%s: %.4f", name, value));
  }
  std::cout << (as_json ? values.dump() : absl::StrJoin(texts, " - ")) << "\n";
}

}  // namespace

int RunJob(const RunOptions& options, Interrupt& interrupt) {
  JobReaderOptions reader;
  // Under TF_CONFIG the data is where the workers are.
  reader.check_files = options.tf_config.empty();
  absl::StatusOr<v1::Job> job =
      ReadJobFile(options.job_path, options.overrides, reader);
  if (!job.ok()) return Fail(job.status(), kBadInput);
  const absl::StatusOr<LeaderOptions> leader_options =
      MakeLeaderOptions(options, *std::move(job));
  if (!leader_options.ok()) return Fail(leader_options.status(), kBadInput);
  const absl::StatusOr<std::unique_ptr<Leader>> leader =
      Leader::Start(*leader_options);
  if (!leader.ok()) return Fail(leader.status(), kBadInput);
  // Only now: a leader that cannot start leaves what was there alone.
  const absl::Status prepared =
      PrepareOutput(leader_options->output_dir,
                    options.resume || !options.evaluate_checkpoint.empty());
  if (!prepared.ok()) return Fail(prepared, kBadInput);
  absl::StatusOr<LocalCluster> cluster =
      StartTasks(options, *leader_options, (*leader)->port());
  if (!cluster.ok()) return Fail(cluster.status(), kJobFailed);
  const Outcome outcome = (*leader)->Run([&] {
    for (const auto& [task, exit_code] : cluster->TakeExits()) {
      (*leader)->TaskExited(task, exit_code);
    }
    if (interrupt.Taken()) {
      (*leader)->Stop(absl::CancelledError("stopped by a signal"));
    }
  });
  cluster->Shutdown(limits::kExitTimeout);

  const absl::Status written =
      WriteOutcome(leader_options->output_dir, leader_options->job, outcome,
                   [&](TaskId task) { return cluster->exit_code(task); });
  if (!outcome.evaluation.empty()) {
    PrintEvaluation(outcome.evaluation, options.print_json);
  }
  if (!outcome.status.ok()) Fail(outcome.status, kJobFailed);
  if (!written.ok()) Fail(written, kJobFailed);
  return written.ok() ? ExitCode(outcome)
                      : std::max(ExitCode(outcome), kJobFailed);
}

}  // namespace paceline
