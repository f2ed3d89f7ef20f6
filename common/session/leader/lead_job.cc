#include "common/session/leader/lead_job.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/base/errno_error.h"
#include "common/base/exit_code.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/export/export_checkpoint.h"
#include "common/job/backup.h"
#include "common/job/model_file.h"
#include "common/keras/name_match.h"
#include "common/model/build_graph.h"
#include "common/session/leader/outcome.h"
#include "common/session/leader/output_lock.h"
#include "common/session/leader/run_setup.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

int Fail(const absl::Status& status, int code) {
  std::cerr << "error: " << status.message() << "\n";
  return code;
}

// Prints the metrics on data.test.
void PrintEvaluation(const Logs& logs, bool as_json) {
  nlohmann::ordered_json values;
  std::vector<std::string> texts;
  for (const auto& [name, value] : logs) {
    values[name] = value;
    texts.push_back(absl::StrFormat("%s: %.4f", name, value));
  }
  std::cout << (as_json ? values.dump() : absl::StrJoin(texts, " - ")) << "\n";
}

// Prints the tasks that connected.
void PrintTasks(const std::vector<TaskView>& tasks) {
  for (const TaskView& task : tasks) {
    std::cout << absl::StrFormat("%-12s%s\n", task.id.ToString(),
                                 task.address.empty() ? "-" : task.address);
  }
  std::cout << "all " << tasks.size() << " tasks agree and are connected\n";
}

// Writes the result. A job with connects_only has no result.
absl::Status WriteResults(const LeadJobOptions& options, const Outcome& outcome,
                          const OwnTasks& own_tasks) {
  const LeaderOptions& leader = options.leader;
  if (leader.connects_only) return absl::OkStatus();
  RETURN_IF_ERROR(
      WriteOutcome(leader.output_dir, leader.job, outcome,
                   [&](TaskId task) { return own_tasks.exit_code(task); }));
  if (!leader.is_placed_by_queue) {
    std::cerr << "results are in " << leader.output_dir << "\n";
  }
  return absl::OkStatus();
}

// Writes the trained model from the last checkpoint of a job that has some.
// Returns whether it did: for a model that Keras' files cannot hold there is a
// warning, and the checkpoint.
absl::StatusOr<bool> WriteModel(const LeaderOptions& leader,
                                const Outcome& outcome) {
  if (leader.connects_only || !leader.evaluate_checkpoint.empty() ||
      !leader.job.has_checkpoint() || !outcome.status.ok()) {
    return false;
  }
  ASSIGN_OR_RETURN(const std::string checkpoint,
                   FindLatestCheckpoint(leader.output_dir + "/checkpoint"));
  const absl::Status status =
      ExportCheckpoint(checkpoint, "keras", leader.output_dir + "/model.keras",
                       ExportedValues::kFinal);
  if (status.ok()) return true;
  if (!absl::IsUnimplemented(status)) return status;
  std::cerr << "warning: model.keras is not written: " << status.message()
            << "\n";
  return false;
}

// Prints the metrics on data.test or the connected tasks, and what went wrong.
void Tell(const Outcome& outcome, const LeadJobOptions& options) {
  if (!outcome.evaluation.empty()) {
    PrintEvaluation(outcome.evaluation, options.print_json);
  }
  if (options.leader.connects_only && outcome.status.ok() &&
      !options.print_json) {
    PrintTasks(outcome.tasks);
  }
  const LostCheckpoints& lost = outcome.lost_checkpoints;
  if (lost.count > 0) {
    std::cerr << "warning: " << lost.count
              << (lost.count == 1 ? " checkpoint was" : " checkpoints were")
              << " lost; the last because: " << lost.error << "\n";
  }
  if (!outcome.status.ok()) Fail(outcome.status, kJobFailed);
}

// Tells once, for all tasks, which layers take their values from a file by
// name. Under TF_CONFIG the file may be on other machines only; if it is bad,
// those who need it say so.
absl::Status TellWeights(const v1::Job& job, const ReadFence& fence) {
  ASSIGN_OR_RETURN(const Graph graph, BuildGraph(job.model()));
  ASSIGN_OR_RETURN(const std::unique_ptr<InitialWeights> weights,
                   fence.Run([&] { return OpenWeights(job, graph); }));
  std::cerr << NameMatchReport(*weights->match(), job.weights()) << "\n";
  return absl::OkStatus();
}

// InvalidArgument if the results would replace the file that the run begins
// with, or, of an evaluation, those of the run that left the folder.
absl::Status CheckOutput(const LeaderOptions& leader) {
  const std::string model = leader.output_dir + "/model.keras";
  if (leader.job.weights() == model) {
    return absl::InvalidArgumentError(
        absl::StrCat("weights: ", model,
                     " is the file that this run writes; expected another "
                     "--output, or a copy of the file"));
  }
  if (!leader.evaluate_checkpoint.empty() &&
      std::filesystem::exists(leader.output_dir + "/checkpoint")) {
    return absl::InvalidArgumentError(
        absl::StrCat("--output: ", leader.output_dir,
                     " has the results and the checkpoint of a run; expected "
                     "another folder"));
  }
  return absl::OkStatus();
}

// Deletes the checkpoints of a job whose BackupAndRestore says so.
absl::Status DeleteBackup(const LeaderOptions& leader) {
  const std::optional<BackupAndRestore> backup = BackupOf(leader.job);
  if (!backup || !backup->delete_checkpoint) return absl::OkStatus();
  const std::string folder = leader.output_dir + "/checkpoint";
  // Of each the manifest goes first, so that none is left that looks whole and
  // is not.
  ASSIGN_OR_RETURN(const std::vector<std::string> checkpoints,
                   ListCheckpoints(folder));
  for (const std::string& checkpoint : checkpoints) {
    RETURN_IF_ERROR(DeleteCheckpoint(checkpoint));
  }
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  return error ? ErrnoError("cannot delete", folder, error) : absl::OkStatus();
}

int Lead(const LeadJobOptions& options, OwnTasks& own_tasks) {
  const absl::StatusOr<std::unique_ptr<Leader>> leader =
      Leader::Start(options.leader);
  if (!leader.ok()) return Fail(leader.status(), kBadInput);
  const absl::Status checked = CheckOutput(options.leader);
  if (!checked.ok()) return Fail(checked, kBadInput);
  // The earlier run's files are moved only now: a leader that cannot start must
  // not touch them.
  if (!options.leader.connects_only) {
    const bool keeps_checkpoints =
        options.resumes || !options.leader.evaluate_checkpoint.empty();
    const absl::Status prepared =
        PrepareOutput(options.leader.output_dir, keeps_checkpoints, std::cerr);
    if (!prepared.ok()) return Fail(prepared, kBadInput);
  }
  if (options.leader.job.weights_by_name() && !options.resumes &&
      !options.leader.connects_only &&
      options.leader.evaluate_checkpoint.empty()) {
    const absl::Status told =
        TellWeights(options.leader.job, options.leader.fence);
    if (!told.ok()) {
      std::cerr << "warning: what matches by name is not known here: "
                << told.message() << "\n";
    }
  }
  (*leader)->RepeatSaves(std::cerr);
  const absl::Status started = own_tasks.Start((*leader)->port());
  if (!started.ok()) return Fail(started, kJobFailed);
  const bool is_placed_by_queue = options.leader.is_placed_by_queue;
  bool waits_for_checkpoint = is_placed_by_queue;
  const Outcome outcome = (*leader)->Run([&] {
    for (const auto& [task, exit_code] : own_tasks.TakeExits()) {
      (*leader)->TaskExited(task, exit_code);
    }
    if (!options.interrupted()) return;
    const absl::Status reason = absl::CancelledError("stopped by a signal");
    if (std::exchange(waits_for_checkpoint, false)) {
      (*leader)->StopAfterCheckpoint(reason);
    } else {
      (*leader)->Stop(reason);
    }
  });
  own_tasks.Shutdown();

  Tell(outcome, options);
  const absl::StatusOr<bool> model = WriteModel(options.leader, outcome);
  absl::Status written = model.status();
  if (!written.ok()) Fail(written, kJobFailed);
  const absl::Status results = WriteResults(options, outcome, own_tasks);
  if (!results.ok()) Fail(results, kJobFailed);
  written.Update(results);
  std::cout.flush();
  own_tasks.ShutdownEvaluator(outcome.status.ok());
  if (written.ok() && *model) {
    const absl::Status deleted = DeleteBackup(options.leader);
    if (!deleted.ok()) std::cerr << "warning: " << deleted.message() << "\n";
  }
  const int code =
      outcome.is_departure && is_placed_by_queue ? kRestart : ExitCode(outcome);
  // A result that is not written is a failure of the job, also of one that
  // ends to go on elsewhere: a queue, which counts failures only, would start
  // it for ever if, say, the disk is full.
  return written.ok() || code == kBadInput ? code : kJobFailed;
}

}  // namespace

int LeadJob(LeadJobOptions options, OwnTasks& own_tasks) {
  LeaderOptions& leader = options.leader;
  const absl::StatusOr<OutputLock> lock = OutputLock::Take(leader.output_dir);
  if (!lock.ok()) return Fail(lock.status(), kBadInput);
  const bool restores = BackupOf(leader.job) && !leader.connects_only &&
                        leader.evaluate_checkpoint.empty();
  if (options.resumes || restores) {
    absl::StatusOr<std::string> latest =
        FindLatestCheckpoint(leader.output_dir + "/checkpoint");
    const bool begins = !options.resumes && absl::IsNotFound(latest.status());
    if (!latest.ok() && !begins) return Fail(latest.status(), kBadInput);
    if (latest.ok()) {
      if (!std::exchange(options.resumes, true)) {
        std::cerr << "goes on from " << *latest << ", as by --resume\n";
      }
      leader.restore_path = *std::move(latest);
    }
  }
  return Lead(options, own_tasks);
}

}  // namespace paceline
