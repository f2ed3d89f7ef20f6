// coordinator: runs, checks and evaluates jobs, predicts, and talks to a
// coordinator that serves. See --help.

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/clock.h"
#include "common/base/exit_code.h"
#include "common/cluster/tf_config.h"
#include "common/command_line/command_tree.h"
#include "common/command_line/manual_page.h"
#include "common/config/suggestion.h"
#include "common/export/export_checkpoint.h"
#include "common/job/reference.h"
#include "common/limits.h"
#include "common/process/descriptor_limit.h"
#include "common/process/finish_command.h"
#include "common/process/interrupt.h"
#include "common/process/lock_checks.h"
#include "common/process/logging.h"
#include "common/process/program_environment.h"
#include "common/task/data_report_options.h"
#include "common/task/predict_options.h"
#include "common/task/tls_options.h"
#include "coordinator/cli/become_worker.h"
#include "coordinator/cli/completion.h"
#include "coordinator/cli/export.h"
#include "coordinator/cli/health.h"
#include "coordinator/cli/lead.h"
#include "coordinator/cli/manual_text.h"
#include "coordinator/cli/run.h"
#include "coordinator/cli/serve.h"
#include "coordinator/cli/service/service_verbs.h"
#include "coordinator/cli/summary.h"
#include "coordinator/cli/validate.h"

namespace paceline {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// What the environment says of the coordinator of a service.
ConnectionOptions EnvironmentConnection() {
  ConnectionOptions options;
  options.environment_coordinator = Environment(kCoordinatorVariable);
  options.environment_secret_file = Environment(kServiceSecretFileVariable);
  options.environment_token_file = Environment(kTokenFileVariable);
  std::string folder = Environment("XDG_CONFIG_HOME");
  const std::string home = Environment("HOME");
  if (folder.empty() && !home.empty()) folder = home + "/.config";
  if (!folder.empty()) options.config_path = folder + "/paceline/config.yaml";
  return options;
}

void AddJobOptions(CLI::App& verb, RunOptions& options, const char* output) {
  verb.add_option("--set", options.overrides,
                  "path.to.field=value: changes a field of the job.");
  verb.add_option("--output", options.output_dir, output);
  options.data.AddTo(verb);
}

// InvalidArgument if the first argument is neither an option nor a verb.
absl::Status CheckVerb(const CLI::App& app, int argc, char** argv) {
  const absl::string_view verb = argc > 1 ? argv[1] : "--help";
  std::vector<std::string> known;
  for (const CLI::App* each : app.get_subcommands(nullptr)) {
    known.push_back(each->get_name());
  }
  if (absl::StartsWith(verb, "-") ||
      std::find(known.begin(), known.end(), verb) != known.end()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown command \"", verb, "\"", Suggestion(verb, known)));
}

int PrintReference(const std::string& subject) {
  const absl::StatusOr<std::string> text =
      subject.empty() ? Reference() : ReferenceOf(subject);
  if (!text.ok()) {
    std::cerr << "error: " << text.status().message() << "\n";
    return kBadInput;
  }
  std::cout << *text;
  return kSuccess;
}

// Prints text of the program's own tree of commands, which must be complete.
int PrintOf(const CLI::App& app, bool is_page, const std::string& shell) {
  const std::vector<Command> commands = CommandsOf(app);
  std::cout << (is_page ? ManualPage(CoordinatorManualText(), commands,
                                     PACELINE_VERSION)
                        : CompletionScript(shell, commands));
  return kSuccess;
}

int TerminalColumns() {
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
             ? std::max<int>(size.ws_col, 50)
             : 80;
}

int Main(int argc, char** argv, absl::Time start, Interrupt& interrupt) {
  CLI::App app(
      "Runs training jobs on clusters of workers and parameter servers.");
  app.set_version_flag("--version", PACELINE_VERSION);
  app.require_subcommand(1);
  RunOptions options;
  options.process_start = start;
  options.tf_config = Environment("TF_CONFIG");
  if (IsNoTfConfig(options.tf_config)) options.tf_config.clear();
  options.secret.environment_file = Environment(kSecretFileVariable);
  options.secret.environment_text = Environment(kSecretVariable);
  options.program_environment = WholeEnvironment(environ);
  options.program_folder =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  std::string format = "text";
  const auto add_format = [&format](CLI::App& verb) {
    verb.add_option("-o", format, "What is printed: text or json.")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
  };

  CLI::App& run = *app.add_subcommand(
      "run",
      "Trains a job: on a cluster of processes on this machine, or, with "
      "TF_CONFIG set, as the chief of its cluster.");
  run.add_option("JOB", options.job_path, "The job, YAML or JSON.")->required();
  AddJobOptions(run, options,
                "Folder for the result, logs and checkpoints; default "
                "out/<name of the job>.");
  options.start_timeout_seconds = absl::ToDoubleSeconds(limits::kStartTimeout);
  run.add_option("--start_timeout", options.start_timeout_seconds,
                 "Seconds that the tasks may take to appear.")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  run.add_flag("--resume", options.resume,
               "Goes on from the checkpoint in the output folder.");
  options.secret.AddTo(run);
  AddTlsOptions(run, options.tls);

  CLI::App& validate =
      *app.add_subcommand("validate",
                          "Checks a job and, with TF_CONFIG set, the cluster "
                          "and this task's place.");
  validate.add_option("JOB", options.job_path, "The job, YAML or JSON.")
      ->required();
  validate.add_option("--set", options.overrides,
                      "path.to.field=value: changes a field of the job.");
  validate.add_flag(
      "--connect", options.connects_only,
      "Also brings the job's tasks together, as a run does before its first "
      "step, and ends: a cluster of processes on this machine, or, with "
      "TF_CONFIG set to that of the task that leads, the tasks started by hand "
      "for it, which end too.");
  validate.add_option("--output", options.output_dir,
                      "Folder for the logs of --connect; default out/<name of "
                      "the job>/validate.");
  options.data.AddTo(validate);
  validate
      .add_option("--start_timeout", options.start_timeout_seconds,
                  "Seconds that the tasks may take to appear.")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  options.secret.AddTo(validate);
  AddTlsOptions(validate, options.tls);
  add_format(validate);

  CLI::App& evaluate = *app.add_subcommand(
      "evaluate", "Evaluates data.test with the variables of a checkpoint.");
  evaluate
      .add_option("CHECKPOINT", options.evaluate_checkpoint,
                  "A checkpoint, or the folder of a job's checkpoints.")
      ->required();
  evaluate.add_option("--job", options.job_path, "The job, YAML or JSON.")
      ->required();
  AddJobOptions(evaluate, options,
                "Folder for the result and logs; default out/<name of the "
                "job>/evaluate.");
  add_format(evaluate);

  PredictOptions predict_options;
  CLI::App& predict = *app.add_subcommand(kPredictVerb, kPredictHelp);
  predict_options.AddTo(predict);

  DataReportOptions data_options;
  CLI::App& data = *app.add_subcommand(kDataVerb, kDataHelp);
  data_options.AddTo(data);

  ExportOptions export_options;
  CLI::App& export_verb = *app.add_subcommand(
      "export", "Writes a model as a file that others read.");
  export_verb
      .add_option("MODEL", export_options.model,
                  "A checkpoint, the folder of a job's checkpoints, a .keras "
                  "file (not as keras) or a legacy .h5 (as safetensors or "
                  "onnx).")
      ->required();
  export_verb
      .add_option("--format", export_options.format,
                  "keras: the compiled model with its optimizer's state, as "
                  "`.keras`; h5: the same as a legacy `.h5`; weights: without "
                  "the model, as `.weights.h5`; "
                  "safetensors: the variables; onnx: the model as it "
                  "predicts, for other runtimes. Default: that of the output's "
                  "suffix, or keras.")
      ->check(CLI::IsMember(ExportFormats()));
  export_verb.add_option(
      "--output", export_options.output,
      "The file, which is replaced if it is there; default `model` with the "
      "format's suffix, in the working folder.");

  std::string model_path;
  int columns = TerminalColumns();
  CLI::App& summary =
      *app.add_subcommand("summary", "Draws the model in a Keras file.");
  summary
      .add_option("MODEL", model_path,
                  "A .keras file, a legacy .h5, or the .json of to_json().")
      ->required();
  summary
      .add_option("--columns", columns,
                  "Characters of a line; default those of the terminal, or 80.")
      ->check(CLI::Range(50, 1000));

  std::string subject;
  CLI::App& reference = *app.add_subcommand(
      "reference", "Prints what a job file can say, in Markdown.");
  reference.add_option("NAME", subject,
                       "Only this map of the job or class: data, Conv2D; "
                       "default all.");

  ServeOptions serve_options;
  serve_options.environment_secret_file =
      Environment(kServiceSecretFileVariable);
  CLI::App& serve = *app.add_subcommand(
      "serve",
      "Runs the coordinator of a service: a queue of jobs for the daemons "
      "`worker --coordinator` and `ps_server --coordinator`.");
  serve_options.AddTo(serve);

  HealthOptions health_options;
  CLI::App& health = *app.add_subcommand(
      "health",
      "Asks a coordinator that serves, a leader or a parameter server for its "
      "health (grpc.health.v1), for probes: exits with 0 if it serves.");
  health_options.AddTo(health);

  LeadOptions lead_options;
  lead_options.process_start = start;
  lead_options.program_folder = options.program_folder;
  // The job is somebody else's.
  lead_options.program_environment = SafeEnvironment(environ);
  CLI::App& lead = *app.add_subcommand(
      "lead", "Leads a job of a service; daemons start this.");
  lead.group("");
  lead_options.AddTo(lead);

  ServiceVerbs service_verbs(EnvironmentConnection());
  service_verbs.AddTo(app);

  std::string shell;
  CLI::App& completion = *app.add_subcommand(
      "completion",
      "Prints a script that has a shell complete commands, options, jobs and "
      "daemons: source <(paceline completion bash).");
  completion.add_option("SHELL", shell, "Whose script: bash, fish or zsh.")
      ->required()
      ->check(CLI::IsMember(CompletionShells()));
  CLI::App& page = *app.add_subcommand(kManualPageVerb, kManualPageHelp);

  if (const absl::Status status = CheckVerb(app, argc, argv); !status.ok()) {
    std::cerr << "error: " << status.message() << "\n";
    return kBadInput;
  }
  app.failure_message([](const CLI::App* /*app*/, const CLI::Error& error) {
    return absl::StrCat("error: ", error.what(),
                        "\nRun with --help for more information.\n");
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kBadInput;
  }
  if (serve.parsed()) {
    LogEverything();
    return Serve(serve_options, interrupt);
  }
  if (health.parsed()) return ProbeHealth(health_options, interrupt);
  if (lead.parsed()) return Lead(lead_options, interrupt);
  if (service_verbs.parsed()) return service_verbs.Run(interrupt);
  if (reference.parsed()) return PrintReference(subject);
  if (completion.parsed() || page.parsed()) {
    return PrintOf(app, page.parsed(), shell);
  }
  if (predict.parsed() || data.parsed()) {
    return FinishCommand(BecomeWorker(options.program_folder, argv));
  }
  if (export_verb.parsed()) {
    return FinishCommand(Export(export_options, std::cout));
  }
  if (summary.parsed()) {
    return FinishCommand(Summarize(model_path, columns, std::cout));
  }
  options.print_json = format == "json";
  if (validate.parsed()) {
    const absl::Status status =
        Validate({options.job_path, options.overrides, options.tf_config,
                  options.print_json},
                 std::cout, std::cerr);
    if (status.ok()) {
      return options.connects_only ? RunJob(options, interrupt) : kSuccess;
    }
    std::cerr << "error: " << status.message() << "\n";
    return kBadInput;
  }
  // An evaluation runs on this machine alone, even if TF_CONFIG is set.
  if (evaluate.parsed()) options.tf_config.clear();
  return RunJob(options, interrupt);
}

}  // namespace
}  // namespace paceline

int main(int argc, char** argv) {
  const absl::Time start = paceline::MonotonicNow();
  paceline::StartLogging("coordinator", /*quiet=*/true);
  paceline::RaiseDescriptorLimit();
  paceline::TurnOffDeadlockDetection();
  const auto interrupt = paceline::Interrupt::Watch();
  if (!interrupt.ok()) {
    std::cerr << "error: " << interrupt.status().message() << "\n";
    return paceline::kJobFailed;
  }
  return paceline::Main(argc, argv, start, **interrupt);
}
