#include "coordinator/cli/run.h"

#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/job/job_reader.h"
#include "common/limits.h"
#include "common/session/leader.h"
#include "common/session/outcome.h"
#include "coordinator/cli/exit_code.h"
#include "coordinator/local_cluster.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

int Fail(const absl::Status& status, int code) {
  std::cerr << "error: " << status.message() << "\n";
  return code;
}

// Tasks on this machine, as many as the job says.
std::vector<ExpectedTask> LocalTasks(const v1::Job& job, bool evaluate) {
  std::vector<ExpectedTask> tasks;
  const int ps_count = evaluate ? 0 : static_cast<int>(job.cluster().ps());
  for (int index = 0; index < ps_count; ++index) {
    tasks.push_back({{TaskType::kPs, index}, ""});
  }
  for (int index = 0; index < static_cast<int>(job.cluster().worker());
       ++index) {
    tasks.push_back({{TaskType::kWorker, index}, ""});
  }
  return tasks;
}

// Makes the output folder. Checkpoints of an earlier run would be mistaken for
// this one's: unless it resumes, they are moved aside.
absl::Status PrepareOutput(const std::string& output_dir, bool resume) {
  RETURN_IF_ERROR(MakeDirectories(absl::StrCat(output_dir, "/logs")));
  const fs::path checkpoints = fs::path(output_dir) / "checkpoint";
  std::error_code error;
  if (resume || !fs::exists(checkpoints, error)) return absl::OkStatus();
  const fs::path previous = fs::path(output_dir) / "checkpoint.previous";
  fs::remove_all(previous, error);
  fs::rename(checkpoints, previous, error);
  if (error) {
    return absl::ErrnoToStatus(
        error.value(), absl::StrCat("cannot move ", checkpoints.string(),
                                    " to ", previous.string()));
  }
  return absl::OkStatus();
}

absl::StatusOr<LeaderOptions> MakeLeaderOptions(const RunOptions& options,
                                                v1::Job job,
                                                const std::string& output_dir) {
  LeaderOptions leader;
  const bool evaluate = !options.evaluate_checkpoint.empty();
  if (evaluate) {
    ASSIGN_OR_RETURN(leader.evaluate_checkpoint,
                     FindLatestCheckpoint(options.evaluate_checkpoint));
  }
  if (options.resume) {
    ASSIGN_OR_RETURN(leader.restore_path,
                     FindLatestCheckpoint(output_dir + "/checkpoint"));
  }
  leader.tasks = LocalTasks(job, evaluate);
  leader.listen_address = "127.0.0.1:0";
  leader.job = std::move(job);
  leader.version = PACELINE_VERSION;
  leader.start_timeout = limits::kStartTimeout;
  leader.output_dir = output_dir;
  leader.process_start = options.process_start;
  leader.progress = evaluate ? &std::cerr : &std::cout;
  leader.is_terminal = isatty(evaluate ? STDERR_FILENO : STDOUT_FILENO) == 1;
  return leader;
}

// Data goes to stdout.
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
  absl::StatusOr<v1::Job> job =
      ReadJobFile(options.job_path, options.overrides);
  if (!job.ok()) return Fail(job.status(), kBadInput);
  const bool evaluate = !options.evaluate_checkpoint.empty();
  const std::string output_dir =
      options.output_dir.empty()
          ? absl::StrCat("out/", job->name(), evaluate ? "/evaluate" : "")
          : options.output_dir;
  const std::string absolute_dir = fs::absolute(output_dir).string();
  absl::StatusOr<LeaderOptions> leader_options =
      MakeLeaderOptions(options, *job, absolute_dir);
  if (!leader_options.ok()) return Fail(leader_options.status(), kBadInput);
  const absl::Status prepared =
      PrepareOutput(absolute_dir, options.resume || evaluate);
  if (!prepared.ok()) return Fail(prepared, kBadInput);

  absl::StatusOr<std::unique_ptr<Leader>> leader =
      Leader::Start(*leader_options);
  if (!leader.ok()) return Fail(leader.status(), kBadInput);
  LocalClusterOptions cluster_options;
  cluster_options.program_folder = options.program_folder;
  cluster_options.log_folder = absolute_dir + "/logs";
  cluster_options.coordinator_address =
      absl::StrCat("127.0.0.1:", (*leader)->port());
  for (const ExpectedTask& task : leader_options->tasks) {
    cluster_options.tasks.push_back(task.id);
  }
  absl::StatusOr<LocalCluster> cluster = LocalCluster::Start(cluster_options);
  if (!cluster.ok()) return Fail(cluster.status(), kJobFailed);

  const Outcome outcome = (*leader)->Run([&] {
    for (const auto& [task, exit_code] : cluster->TakeExits()) {
      (*leader)->TaskExited(task, exit_code);
    }
    if (interrupt.Taken()) {
      (*leader)->Stop(absl::CancelledError("stopped by a signal"));
    }
  });
  cluster->Shutdown(limits::kShutdownTimeout);
  const absl::Status written =
      WriteOutcome(absolute_dir, *job, outcome,
                   [&](TaskId task) { return cluster->exit_code(task); });
  if (!written.ok()) return Fail(written, kJobFailed);
  if (!outcome.status.ok()) return Fail(outcome.status, ExitCode(outcome));
  if (!outcome.evaluation.empty()) {
    PrintEvaluation(outcome.evaluation, options.print_json);
  }
  return kSuccess;
}

}  // namespace paceline
