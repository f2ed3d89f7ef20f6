// worker: computes gradients, and predictions, and shows data. See --help.

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/cores.h"
#include "common/base/exit_code.h"
#include "common/base/freed_memory.h"
#include "common/base/status_macros.h"
#include "common/base/ticker.h"
#include "common/daemon/daemon_options.h"
#include "common/daemon/daemon_program.h"
#include "common/job/job_fingerprint.h"
#include "common/job/job_reader.h"
#include "common/limits.h"
#include "common/process/descriptor_limit.h"
#include "common/process/finish_command.h"
#include "common/process/interrupt.h"
#include "common/process/leave_order.h"
#include "common/process/lock_checks.h"
#include "common/process/logging.h"
#include "common/process/openmp_waits.h"
#include "common/process/program_environment.h"
#include "common/session/leader/run_setup.h"
#include "common/task/data_report_options.h"
#include "common/task/predict_options.h"
#include "common/task/task_program.h"
#include "worker/evaluation/evaluator.h"
#include "worker/evaluation/prediction_bar.h"
#include "worker/evaluation/predictor.h"
#include "worker/inspection/show_data.h"
#include "worker/lifecycle/in_process_worker.h"
#include "worker/lifecycle/worker.h"
#include "worker/setup/remote_data.h"

namespace paceline {
namespace {

// At which a thread looks for signals.
constexpr absl::Duration kSignalInterval = absl::Milliseconds(50);

// Sets the variables and executes the program again, unless the user has chosen
// how threads wait.
void SetOpenMpWaits(char** argv) {
  if (std::getenv(kOpenMpWaits[0].name) != nullptr) return;
  for (const auto& [name, value] : kOpenMpWaits) setenv(name, value, 0);
  execv("/proc/self/exe", argv);
}

struct WorkerFlags {
  int threads = 1;
  std::string job_path;
  std::vector<std::string> overrides;
  std::string output_dir;
  bool resume = false;
  // --allow-exec, which a daemon has, too.
  bool allows_exec = false;
  double checkpoint_timeout_seconds = 0;
  DataOptions data;
};

void AddFlags(CLI::App& app, WorkerFlags& flags) {
  flags.threads = UsableCores();
  app.add_option("--threads", flags.threads, "Threads that compute.")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  app.add_option("--job", flags.job_path,
                 "The job: needed by the task that leads, which is worker 0 of "
                 "a cluster without a chief, or the chief of a cluster without "
                 "ps, and by an evaluator; else only compared with the "
                 "leader's.");
  app.add_option("--set", flags.overrides,
                 "path.to.field=value: changes a field of the job.");
  app.add_option("--output", flags.output_dir,
                 "Folder for the result and checkpoints, if this task leads; "
                 "for an evaluator, the one they come to.");
  app.add_flag("--resume", flags.resume,
               "Goes on from the output folder's checkpoint, if this task "
               "leads.");
  flags.checkpoint_timeout_seconds =
      absl::ToDoubleSeconds(limits::kNextCheckpointTimeout);
  app.add_option("--checkpoint_timeout", flags.checkpoint_timeout_seconds,
                 "Seconds that an evaluator waits for the next checkpoint.")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  flags.data.AddTo(app);
  flags.data.AddFromTo(app);
}

absl::Status CheckFlags(const WorkerFlags& flags, const std::string& why) {
  if (!flags.job_path.empty() && !flags.output_dir.empty()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("by TF_CONFIG ", why, "; expected --job and --output"));
}

absl::Status Evaluate(const TaskProgram& program, const TaskPlace& place,
                      const WorkerFlags& flags) {
  RETURN_IF_ERROR(CheckFlags(
      flags, absl::StrCat(place.task.ToString(), " evaluates checkpoints")));
  EvaluatorOptions evaluator;
  // Only the data sets that are evaluated need to be on this machine.
  JobReaderOptions reader;
  reader.check_files = false;
  reader.may_read = program.read_check();
  ASSIGN_OR_RETURN(evaluator.job, program.fence().Run([&] {
    return ReadJobFile(flags.job_path, flags.overrides, reader);
  }));
  evaluator.output_dir = std::filesystem::absolute(flags.output_dir).string();
  evaluator.threads = flags.threads;
  ASSIGN_OR_RETURN(evaluator.data, RemoteFilesOf(flags.data, std::getenv));
  evaluator.fence = program.fence().With(evaluator.data.folder);
  evaluator.start_timeout = program.start_timeout();
  evaluator.checkpoint_timeout =
      absl::Seconds(flags.checkpoint_timeout_seconds);
  return RunEvaluator(evaluator);
}

absl::StatusOr<int> Lead(const TaskPlace& place, const WorkerFlags& flags,
                         v1::Job job, WorkerOptions worker, absl::Time start,
                         Interrupt& interrupt) {
  RETURN_IF_ERROR(
      CheckFlags(flags, absl::StrCat(place.task.ToString(), " leads the job")));
  LeaderOptions leader;
  ASSIGN_OR_RETURN(leader.tasks, TasksOf(*place.tf_config, job));
  leader.cluster = place.tf_config->cluster;
  leader.job = std::move(job);
  leader.version = PACELINE_VERSION;
  leader.self = place.task;
  leader.secret = place.secret;
  leader.tls = place.tls;
  leader.start_timeout = worker.member.start_timeout;
  leader.listen_address = place.listen_address;
  leader.output_dir = std::filesystem::absolute(flags.output_dir).string();
  leader.process_start = start;
  leader.allows_exec = flags.allows_exec;
  // The job may be somebody else's.
  leader.program_environment = SafeEnvironment(environ);
  leader.progress = &std::cout;
  leader.is_terminal = isatty(STDOUT_FILENO) == 1;
  InProcessWorker own_task(std::move(worker));
  return LeadJob({std::move(leader), flags.resume, /*print_json=*/false,
                  [&] { return interrupt.Taken(); }},
                 own_task);
}

absl::StatusOr<int> Run(TaskProgram& program, const WorkerFlags& flags,
                        const TaskEnvironment& environment, absl::Time start) {
  ASSIGN_OR_RETURN(std::unique_ptr<Interrupt> interrupt, Interrupt::Watch());
  ASSIGN_OR_RETURN(const TaskPlace place, program.Resolve(environment));
  if (place.task.type == TaskType::kEvaluator) {
    // Signals just end it: it is no member.
    interrupt.reset();
    RETURN_IF_ERROR(Evaluate(program, place, flags));
    return 0;
  }
  WorkerOptions worker;
  worker.member = program.MemberFor(place, PACELINE_VERSION);
  worker.listen_address = place.listen_address;
  worker.threads = flags.threads;
  ASSIGN_OR_RETURN(worker.data, RemoteFilesOf(flags.data, std::getenv));
  worker.fence = program.fence().With(worker.data.folder);
  v1::Job job;
  if (!flags.job_path.empty()) {
    ASSIGN_OR_RETURN(job, ReadJobFile(flags.job_path, flags.overrides));
    worker.member.job_fingerprint = JobFingerprint(job);
  }
  if (place.leads) {
    return Lead(place, flags, std::move(job), std::move(worker), start,
                *interrupt);
  }
  worker.leave = &LeaveOnSignal(std::move(interrupt));
  ASSIGN_OR_RETURN(const WorkerEnd end, RunWorker(worker));
  return end == WorkerEnd::kLeft ? kRestart : kSuccess;
}

// For a Ticker: ends the process at once when a signal comes.
std::function<void()> EndAtSignal(Interrupt& interrupt) {
  return [&interrupt] {
    if (!interrupt.Taken()) return;
    EndNow(FinishCommand(absl::CancelledError("interrupted")));
  };
}

int RunPrediction(const PredictOptions& options) {
  const absl::StatusOr<std::unique_ptr<Interrupt>> interrupt =
      Interrupt::Watch();
  if (!interrupt.ok()) return FinishCommand(interrupt.status());
  const absl::StatusOr<RemoteFilesOptions> access =
      RemoteFilesOf(options.data_access, std::getenv);
  if (!access.ok()) return FinishCommand(access.status());
  // Until the predictor asks for the first time, it fetches and opens data and
  // has written nothing: then a signal ends the process at once.
  std::optional<Ticker> watch;
  watch.emplace(kSignalInterval, EndAtSignal(**interrupt));
  std::optional<PredictionBar> bar;
  bar.emplace(isatty(STDERR_FILENO) == 1 ? &std::cerr : nullptr);
  const absl::StatusOr<std::vector<std::string>> paths = Predict(
      options, *access, UsableCores(),
      [&] {
        watch.reset();
        return (*interrupt)->Taken();
      },
      [&](int64_t done, int64_t batches) { bar->Update(done, batches); });
  bar.reset();
  if (paths.ok()) {
    for (const std::string& path : *paths) std::cout << path << '\n';
    std::cout.flush();
  }
  return FinishCommand(paths.status());
}

int RunDataReport(const DataReportOptions& options) {
  const absl::StatusOr<std::unique_ptr<Interrupt>> interrupt =
      Interrupt::Watch();
  if (!interrupt.ok()) return FinishCommand(interrupt.status());
  // The file that it writes is replaced atomically.
  const Ticker watch(kSignalInterval, EndAtSignal(**interrupt));
  const absl::StatusOr<RemoteFilesOptions> access =
      RemoteFilesOf(options.data_access, std::getenv);
  if (!access.ok()) return FinishCommand(access.status());
  return FinishCommand(ShowData(options, *access, UsableCores(), std::cout));
}

}  // namespace
}  // namespace paceline

int main(int argc, char** argv) {
  const absl::Time start = paceline::MonotonicNow();
  paceline::SetOpenMpWaits(argv);
  paceline::RaiseDescriptorLimit();
  paceline::TurnOffDeadlockDetection();
  paceline::KeepFreedMemory();
  CLI::App app(
      "Computes gradients of a job's model, and pushes them to its parameter "
      "servers or sums them with the other workers; or, as the evaluator of "
      "TF_CONFIG, evaluates each checkpoint in the job's output folder. Its "
      "place comes from TF_CONFIG, or from --coordinator and --index; the "
      "leader tells it the job. With --coordinator alone it is a daemon, which "
      "runs such tasks for the jobs of a service.");
  app.set_version_flag("--version", PACELINE_VERSION);
  paceline::TaskProgram program(paceline::TaskType::kWorker);
  program.AddOptions(app);
  paceline::WorkerFlags flags;
  paceline::AddFlags(app, flags);
  paceline::DaemonFlags daemon;
  daemon.AddTo(app);
  paceline::PredictOptions predict_options;
  CLI::App& predict =
      *app.add_subcommand(paceline::kPredictVerb,
                          absl::StrCat(paceline::kPredictHelp,
                                       " `coordinator predict` becomes it."));
  predict_options.AddTo(predict);
  paceline::DataReportOptions data_options;
  CLI::App& data = *app.add_subcommand(
      paceline::kDataVerb,
      absl::StrCat(paceline::kDataHelp, " `coordinator data` becomes it."));
  data_options.AddTo(data);
  if (const auto code = paceline::ParseCommandLine(
          program.type(), PACELINE_VERSION, app, argc, argv)) {
    return *code;
  }
  flags.allows_exec = daemon.allow_exec;
  paceline::StartLogging("worker", /*quiet=*/predict.parsed() || data.parsed());
  if (predict.parsed()) return paceline::RunPrediction(predict_options);
  if (data.parsed()) return paceline::RunDataReport(data_options);
  if (program.IsDaemon()) {
    if (!flags.job_path.empty() || !flags.output_dir.empty() || flags.resume ||
        !flags.data.from.empty()) {
      return paceline::ExitWith(absl::InvalidArgumentError(
          "--job, --output, --resume and --data-from are for a task, and "
          "--coordinator without --index is a daemon; expected --index"));
    }
    return paceline::ExitWith(paceline::RunDaemonProgram(
        daemon, program, PACELINE_VERSION, std::getenv, flags.data));
  }

  const absl::StatusOr<int> code = paceline::Run(
      program, flags, paceline::TaskEnvironment::From(std::getenv), start);
  const int exit_code = code.ok() ? *code : paceline::ExitWith(code.status());
  std::cout.flush();
  // Exit without joining threads that wait for other tasks.
  _exit(exit_code);
}
