#include "common/session/leader/lead_job.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/base/clock.h"
#include "common/base/errno_error.h"
#include "common/base/exit_code.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/export/export_checkpoint.h"
#include "common/job/backup.h"
#include "common/job/job_fingerprint.h"
#include "common/job/job_model.h"
#include "common/job/job_phases.h"
#include "common/job/model_file.h"
#include "common/keras/name_match.h"
#include "common/model/build_graph.h"
#include "common/session/leader/outcome.h"
#include "common/session/leader/output_lock.h"
#include "common/session/leader/phase_folders.h"
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
  const bool is_told = !leader.is_placed_by_queue &&
                       !(leader.has_next_phase && outcome.status.ok());
  RETURN_IF_ERROR(
      WriteOutcome(leader.output_dir, leader.job, leader.phase, outcome,
                   [&](TaskId task) { return own_tasks.exit_code(task); }));
  if (is_told) {
    std::cerr << "results are in " << leader.output_dir << "\n";
  }
  return absl::OkStatus();
}

// Whether the job, with all its phases, has trained its model.
bool HasTrained(const LeaderOptions& leader, const Outcome& outcome) {
  return !leader.connects_only && leader.evaluate_checkpoint.empty() &&
         !leader.has_next_phase && outcome.status.ok();
}

// Writes the trained model from the last checkpoint of a job that has some.
// Returns whether it did: for a model that Keras' files cannot hold there is a
// warning, and the checkpoint.
absl::StatusOr<bool> WriteModel(const LeaderOptions& leader,
                                const Outcome& outcome) {
  if (!HasTrained(leader, outcome) || !leader.job.has_checkpoint()) {
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
  // The error of a job that ends by a lost checkpoint tells of all of them.
  if (lost.count > 0 &&
      !absl::StrContains(outcome.status.message(), lost.error)) {
    std::cerr << "warning: " << lost.count
              << (lost.count == 1 ? " checkpoint was" : " checkpoints were")
              << " lost; the last because: " << lost.error << "\n";
  }
  if (!outcome.status.ok()) Fail(outcome.status, kJobFailed);
}

// Tells that a file of the results could not be written: as the job's error,
// unless it `has_failed` by one before.
void TellUnwritten(const absl::Status& error, const v1::Job& job,
                   const Outcome& outcome, bool has_failed) {
  if (has_failed) {
    std::cerr << "warning: " << error.message() << "\n";
    return;
  }
  std::cerr << "error: " << error.message()
            << (outcome.status.ok() && job.has_checkpoint()
                    ? "; the job has trained: once that is mended, --resume "
                      "writes it from the last checkpoint"
                    : "")
            << "\n";
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

// Makes the options those of a phase of `job`.
absl::Status SetPhase(const v1::Job& job, int phase, LeaderOptions& leader) {
  ASSIGN_OR_RETURN(leader.job, JobOfPhase(job, phase));
  leader.phase = job.phases(phase).name();
  leader.has_next_phase = phase + 1 < job.phases_size();
  return absl::OkStatus();
}

// The phase begins with the variables of the one before.
absl::Status TakeVariables(const v1::Job& job, int phase,
                           LeaderOptions& leader) {
  ASSIGN_OR_RETURN(
      leader.restore_path,
      FindLatestCheckpoint(PhaseFolder(leader.output_dir, job, phase - 1) +
                           "/checkpoint"));
  leader.variables_only = true;
  return absl::OkStatus();
}

// The BackupAndRestore of the job or of its phases, each of which makes the job
// go on by itself where an earlier run was.
std::vector<BackupAndRestore> BackupsOf(const v1::Job& job) {
  std::vector<BackupAndRestore> backups;
  const auto add = [&](const auto& callbacks) {
    v1::Job one;
    *one.mutable_callbacks() = callbacks;
    if (const auto backup = BackupOf(one)) backups.push_back(*backup);
  };
  if (job.phases().empty()) add(job.callbacks());
  for (const v1::TrainingPhase& phase : job.phases()) {
    add(HasOwnCallbacks(phase) ? phase.callbacks() : job.callbacks());
  }
  return backups;
}

// Deletes the folder and the checkpoints in it. Of each the manifest goes
// first, so that none is left that looks whole and is not.
absl::Status DeleteCheckpoints(const std::string& folder) {
  ASSIGN_OR_RETURN(const std::vector<std::string> checkpoints,
                   ListCheckpoints(folder));
  for (const std::string& checkpoint : checkpoints) {
    RETURN_IF_ERROR(DeleteCheckpoint(checkpoint));
  }
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  return error ? ErrnoError("cannot delete", folder, error) : absl::OkStatus();
}

// Deletes the checkpoints of a job of which a BackupAndRestore says so. The
// last phase's go first: a run that finds some of them goes on from those.
absl::Status DeleteBackup(const LeaderOptions& leader, const v1::Job& job) {
  const std::vector<BackupAndRestore> backups = BackupsOf(job);
  if (std::none_of(backups.begin(), backups.end(),
                   [](const BackupAndRestore& backup) {
                     return backup.delete_checkpoint;
                   })) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(DeleteCheckpoints(leader.output_dir + "/checkpoint"));
  for (int i = job.phases_size() - 2; i >= 0; --i) {
    RETURN_IF_ERROR(DeleteCheckpoints(PhaseFolder(leader.output_dir, job, i) +
                                      "/checkpoint"));
  }
  return absl::OkStatus();
}

// What comes before the tasks of the job start. The run begins with `phase` of
// the job.
absl::Status PrepareRun(const LeadJobOptions& options, const v1::Job& job,
                        int phase) {
  const LeaderOptions& leader = options.leader;
  RETURN_IF_ERROR(CheckOutput(leader));
  // The earlier run's files are moved only now: a leader that cannot start must
  // not touch them.
  if (!leader.connects_only) {
    const bool keeps_checkpoints =
        options.resumes || !leader.evaluate_checkpoint.empty();
    RETURN_IF_ERROR(
        PrepareOutput(leader.output_dir, keeps_checkpoints, std::cerr));
  }
  if (phase > 0) {
    RETURN_IF_ERROR(DeleteFinishedCheckpoints(leader.output_dir, job, phase));
  }
  if (leader.job.weights_by_name() && !options.resumes &&
      !leader.connects_only && leader.evaluate_checkpoint.empty()) {
    const absl::Status told = TellWeights(leader.job, leader.fence);
    if (!told.ok()) {
      std::cerr << "warning: what matches by name is not known here: "
                << told.message() << "\n";
    }
  }
  return absl::OkStatus();
}

// Leads the job, or its phases from `first_phase` on.
class Run {
 public:
  // `job` has the phases; that of the options is one of them.
  Run(const v1::Job& job, LeadJobOptions options, OwnTasks& own_tasks)
      : job_(job), options_(std::move(options)), own_tasks_(own_tasks) {}

  // Returns the exit code.
  int Lead(int first_phase) {
    LeaderOptions& leader = options_.leader;
    if (leader.has_next_phase) {
      // Tasks that register for the next phase wait in its queue.
      absl::StatusOr<Listener> listener = Listener::Open(leader.listen_address);
      if (!listener.ok()) return Fail(listener.status(), kBadInput);
      leader.listener = std::make_shared<const Listener>(*std::move(listener));
    }
    for (int phase = first_phase;; ++phase) {
      if (const std::optional<int> code = LeadPhase(phase)) return *code;
      const absl::Status begun = BeginNextPhase(phase + 1);
      if (!begun.ok()) return Abandon(begun);
    }
  }

 private:
  // nullopt: the next phase follows.
  std::optional<int> LeadPhase(int phase) {
    LeaderOptions& options = options_.leader;
    absl::StatusOr<std::unique_ptr<Leader>> leader = Leader::Start(options);
    if (!leader.ok()) return Abandon(leader.status());
    if (!has_started_) {
      const absl::Status prepared = PrepareRun(options_, job_, phase);
      if (!prepared.ok()) return Fail(prepared, kBadInput);
    }
    if (!options.phase.empty()) {
      std::cerr << "phase " << phase + 1 << " of " << job_.phases_size() << ": "
                << options.phase << "\n";
    }
    if (!std::exchange(has_started_, true)) {
      const absl::Status started = own_tasks_.Start((*leader)->port());
      if (!started.ok()) return Fail(started, kJobFailed);
    }
    return Finish(phase, RunLeader(**leader));
  }

  Outcome RunLeader(Leader& leader) {
    bool waits_for_checkpoint = options_.leader.is_placed_by_queue;
    // Nobody starts them again for this phase.
    for (const auto& [task, exit_code] : exits_) {
      leader.TaskExited(task, exit_code);
    }
    return leader.Run([&] {
      for (const auto& [task, exit_code] : own_tasks_.TakeExits()) {
        exits_[task] = exit_code;
        leader.TaskExited(task, exit_code);
      }
      if (!options_.interrupted()) return;
      const absl::Status reason = absl::CancelledError("stopped by a signal");
      if (std::exchange(waits_for_checkpoint, false)) {
        leader.StopAfterCheckpoint(reason);
      } else {
        leader.Stop(reason);
      }
    });
  }

  // Writes the results. nullopt: the next phase follows in this process.
  std::optional<int> Finish(int phase, const Outcome& outcome) {
    const LeaderOptions& leader = options_.leader;
    const bool has_next = leader.has_next_phase && outcome.status.ok();
    const bool goes_on = has_next && !leader.is_placed_by_queue;
    if (!goes_on) own_tasks_.Shutdown();

    Tell(outcome, options_);
    const absl::StatusOr<bool> model = WriteModel(leader, outcome);
    absl::Status written = model.status();
    if (!written.ok()) {
      TellUnwritten(written, leader.job, outcome, /*has_failed=*/false);
    }
    absl::Status results = WriteResults(options_, outcome, own_tasks_);
    if (results.ok() && has_next) {
      results = FinishPhase(leader.output_dir, job_, phase);
    }
    const bool restarts = outcome.is_departure || has_next;
    const int code =
        restarts && leader.is_placed_by_queue ? kRestart : ExitCode(outcome);
    // After an error this one has the same cause, such as a full disk. A stop
    // or a departure is no such error: the job fails by this one alone.
    const bool has_failed =
        !written.ok() || code == kJobFailed || code == kBadInput;
    if (!results.ok()) {
      TellUnwritten(results, leader.job, outcome, has_failed);
    }
    written.Update(results);
    std::cout.flush();
    if (goes_on) {
      if (written.ok()) return std::nullopt;
      own_tasks_.Shutdown();
    }
    own_tasks_.ShutdownEvaluator(outcome.status.ok());
    // Of a model that could not be written, the checkpoint is all there is.
    if (written.ok() && HasTrained(leader, outcome) &&
        (*model || !leader.job.has_checkpoint())) {
      const absl::Status deleted = DeleteBackup(leader, job_);
      if (!deleted.ok()) std::cerr << "warning: " << deleted.message() << "\n";
    }
    // A result that is not written is a failure of the job, also of one that
    // ends to go on elsewhere: a queue, which counts failures only, would start
    // it for ever if, say, the disk is full.
    return written.ok() || code == kBadInput ? code : kJobFailed;
  }

  // Makes the options those of a phase after the first of this run.
  absl::Status BeginNextPhase(int phase) {
    LeaderOptions& leader = options_.leader;
    RETURN_IF_ERROR(SetPhase(job_, phase, leader));
    LeaveOutLostWorkers();
    leader.process_start = MonotonicNow();
    return TakeVariables(job_, phase, leader);
  }

  // The training goes on without the own workers that have exited, if it
  // survives their loss and another worker is left.
  void LeaveOutLostWorkers() {
    for (const auto& [task, exit_code] : own_tasks_.TakeExits()) {
      exits_[task] = exit_code;
    }
    if (IsSynchronous(job_)) return;
    std::vector<ExpectedTask>& tasks = options_.leader.tasks;
    const auto is_lost = [this](const ExpectedTask& task) {
      return task.id.type != TaskType::kPs && exits_.contains(task.id);
    };
    const bool has_worker =
        std::any_of(tasks.begin(), tasks.end(), [&](const ExpectedTask& task) {
          return task.id.type != TaskType::kPs && !is_lost(task);
        });
    if (has_worker) std::erase_if(tasks, is_lost);
  }

  // No leader could start.
  int Abandon(const absl::Status& status) {
    if (!has_started_) return Fail(status, kBadInput);
    own_tasks_.Shutdown();
    return Fail(status, kJobFailed);
  }

  const v1::Job& job_;
  LeadJobOptions options_;
  OwnTasks& own_tasks_;
  // Whether the tasks have started.
  bool has_started_ = false;
  // The own tasks that have exited in any phase, with their exit codes.
  std::map<TaskId, int> exits_;
};

// Finds the phase to begin with, and the checkpoint. Returns the phase; 0 of a
// job that has none.
absl::StatusOr<int> FindStart(const v1::Job& job, LeadJobOptions& options) {
  LeaderOptions& leader = options.leader;
  const bool trains =
      !leader.connects_only && leader.evaluate_checkpoint.empty();
  int phase = 0;
  if (job.phases_size() > 0 && !trains) {
    // The last one has the test set.
    RETURN_IF_ERROR(SetPhase(job, job.phases_size() - 1, leader));
    leader.phase.clear();
  } else if (job.phases_size() > 0) {
    // A queue starts the job anew for each phase.
    if (options.resumes || leader.is_placed_by_queue ||
        !BackupsOf(job).empty()) {
      ASSIGN_OR_RETURN(phase, UnfinishedPhase(leader.output_dir, job));
    }
    RETURN_IF_ERROR(SetPhase(job, phase, leader));
  }
  const bool restores = trains && (phase > 0 || BackupOf(leader.job));
  if (!options.resumes && !restores) return phase;
  absl::StatusOr<std::string> latest =
      phase > 0 ? FindUnfinishedCheckpoint(leader.output_dir, job, phase)
                : FindLatestCheckpoint(leader.output_dir + "/checkpoint");
  if (latest.ok()) {
    leader.restore_path = *std::move(latest);
  } else if (absl::IsNotFound(latest.status()) && phase > 0) {
    RETURN_IF_ERROR(TakeVariables(job, phase, leader));
  } else if (!absl::IsNotFound(latest.status())) {
    return latest.status();
  } else if (options.resumes) {
    return WithMessage(latest.status(),
                       absl::StrCat(latest.status().message(),
                                    "; without --resume the job begins anew"));
  }
  if (!leader.restore_path.empty() && !std::exchange(options.resumes, true)) {
    std::cerr << "goes on from " << leader.restore_path << ", as by --resume\n";
  }
  return phase;
}

}  // namespace

int LeadJob(LeadJobOptions options, OwnTasks& own_tasks) {
  const absl::StatusOr<OutputLock> lock =
      OutputLock::Take(options.leader.output_dir);
  if (!lock.ok()) return Fail(lock.status(), kBadInput);
  const v1::Job job = options.leader.job;
  options.leader.job_fingerprint = JobFingerprint(job);
  const absl::StatusOr<int> phase = FindStart(job, options);
  if (!phase.ok()) return Fail(phase.status(), kBadInput);
  return Run(job, std::move(options), own_tasks).Lead(*phase);
}

}  // namespace paceline
