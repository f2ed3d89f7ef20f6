#include "common/task/task_program.h"

#include <glog/logging.h>
#include <unistd.h>

#include <iostream>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "common/base/exit_code.h"
#include "common/base/status_macros.h"
#include "common/cluster/address.h"
#include "common/cluster/cluster_spec.h"
#include "common/cluster/role.h"
#include "common/cluster/task_proto.h"
#include "common/command_line/command_tree.h"
#include "common/command_line/manual_page.h"
#include "common/job/readable_files.h"
#include "common/limits.h"
#include "common/process/lifetime.h"
#include "common/rpc/incarnation.h"
#include "common/task/task_manual.h"
#include "common/task/tls_options.h"

namespace paceline {

namespace {

constexpr char kAnyAddress[] = "[::]:0";

// The tasks that may call this task or be called by it, as far as is known.
ClusterSpec Callers(const TaskPlace& place) {
  if (place.task.type == TaskType::kEvaluator) return {};
  if (place.tf_config) return place.tf_config->cluster;
  ClusterSpec leader_alone;
  leader_alone.tasks[TaskType::kChief][0] = place.coordinator_address;
  return leader_alone;
}

}  // namespace

TaskEnvironment TaskEnvironment::From(char* (*get)(const char* name)) {
  const auto value = [get](const char* name) -> std::string {
    const char* const found = get(name);
    return found == nullptr ? "" : found;
  };
  return {value("TF_CONFIG"), value(kSecretFileVariable),
          value(kSecretVariable)};
}

void TaskProgram::AddOptions(CLI::App& app) {
  app.add_option("--coordinator", coordinator_,
                 "host:port of the leader; instead of TF_CONFIG. Without "
                 "--index, that of the coordinator of a service, of which "
                 "this process becomes a daemon.");
  type_name_ = TaskTypeName(type_);
  if (type_ == TaskType::kWorker) {
    app.add_option("--type", type_name_,
                   "Type of this task, worker or chief; with --coordinator.")
        ->capture_default_str()
        ->check(CLI::IsMember({"worker", "chief"}));
  }
  app.add_option("--index", index_, "Index of this task; with --coordinator.")
      ->check(CLI::Range(0, limits::kMaxTasks - 1));
  app.add_option("--listen", listen_,
                 "host:port to listen on; port 0 takes a free one. Default: a "
                 "free port of all interfaces, or of loopback alone if the "
                 "leader is there.");
  start_timeout_seconds_ = absl::ToDoubleSeconds(limits::kStartTimeout);
  app.add_option("--start_timeout", start_timeout_seconds_,
                 "Seconds that the leader may take to appear.")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--lifetime_fd", lifetime_fd_,
                 "A pipe that gives the job's secret, and whose closing ends "
                 "this process; set by a parent.")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--may_read", may_read_,
                 "A folder whose files the job may read; set by a daemon. "
                 "Default: all files that this process may.")
      ->allow_extra_args(false);
  secret_.AddTo(app);
  AddTlsOptions(app, tls_);
}

absl::StatusOr<TaskPlace> TaskProgram::Resolve(
    const TaskEnvironment& environment) {
  const bool has_parent = lifetime_fd_ >= 0;
  std::optional<JobSecret> parents;
  if (has_parent) {
    ASSIGN_OR_RETURN(const std::string line, ReadLine(lifetime_fd_));
    if (!line.empty()) {
      ASSIGN_OR_RETURN(parents, JobSecret::FromText(line));
    }
    EndWithParent(lifetime_fd_);
  }
  const bool uses_tf_config =
      coordinator_.empty() && !IsNoTfConfig(environment.tf_config);
  ASSIGN_OR_RETURN(TaskPlace place, uses_tf_config
                                        ? FromTfConfig(environment.tf_config)
                                        : FromOptions());
  ASSIGN_OR_RETURN(place.tls, Tls::Load(tls_));
  if (has_parent) {
    place.secret = std::move(parents);
    return place;
  }
  JobSecretOptions secret = secret_;
  secret.environment_file = environment.job_secret_file;
  secret.environment_text = environment.job_secret;
  ASSIGN_OR_RETURN(place.secret, FindJobSecret(secret, Callers(place)));
  return place;
}

absl::StatusOr<TaskPlace> TaskProgram::FromOptions() const {
  if (coordinator_.empty()) {
    return absl::InvalidArgumentError(
        "this task does not know its place; expected the environment variable "
        "TF_CONFIG, or --coordinator and --index");
  }
  TaskPlace place;
  place.task = {*TaskTypeFromName(type_name_), index_.value_or(0)};
  place.coordinator_address = coordinator_;
  place.listen_address = listen_;
  if (listen_.empty()) {
    const bool is_local = !FirstBeyondLoopback(Callers(place));
    place.listen_address =
        is_local ? WithPort(coordinator_, 0) : std::string(kAnyAddress);
  }
  return place;
}

absl::StatusOr<TaskPlace> TaskProgram::FromTfConfig(
    const std::string& text) const {
  ASSIGN_OR_RETURN(TfConfig config, ParseTfConfig(text));
  for (const std::string& note : config.notes) LOG(INFO) << note;
  // In a cluster without ps tasks the chief trains, as a worker.
  const bool is_working_chief = type_ == TaskType::kWorker &&
                                config.task.type == TaskType::kChief &&
                                config.cluster.count(TaskType::kPs) == 0;
  const bool is_evaluator =
      type_ == TaskType::kWorker && config.task.type == TaskType::kEvaluator;
  if (config.task.type != type_ && !is_working_chief && !is_evaluator) {
    return absl::InvalidArgumentError(
        absl::StrCat("TF_CONFIG: task.type: \"", TaskTypeName(config.task.type),
                     "\" cannot be run by this program; expected \"",
                     TaskTypeName(type_), "\""));
  }
  TaskPlace place;
  place.task = config.task;
  if (is_evaluator) return place;
  const std::optional<TaskId> leader = LeaderOf(config.cluster);
  if (config.is_dynamic || !leader.has_value()) {
    return absl::UnimplementedError(
        "TF_CONFIG: cluster: the task that leads is not listed; a run needs "
        "all tasks (with Kubeflow, enableDynamicWorker: false)");
  }
  place.coordinator_address = *config.cluster.address(*leader);
  place.advertised_address = *config.cluster.address(config.task);
  place.listen_address =
      ListenAddress(config.cluster, place.advertised_address);
  place.leads = *leader == config.task;
  if (place.leads && FirstBeyondLoopback(config.cluster)) {
    // The worker that leads reaches its own leader by loopback, since a task's
    // own host name need not resolve on its machine.
    place.coordinator_address = absl::StrCat(
        "127.0.0.1",
        place.listen_address.substr(place.listen_address.rfind(':')));
  }
  place.tf_config = std::move(config);
  return place;
}

MemberOptions TaskProgram::MemberFor(const TaskPlace& place,
                                     const std::string& version) const {
  MemberOptions member;
  member.task = place.task;
  member.coordinator_address = place.coordinator_address;
  member.address = place.advertised_address;
  if (place.tf_config) member.cluster = place.tf_config->cluster;
  member.incarnation = DrawIncarnation();
  member.caller = std::make_shared<Caller>(
      TaskToProto(place.task), member.incarnation, place.secret, place.tls);
  member.version = version;
  member.start_timeout = start_timeout();
  if (!may_read_.empty()) {
    member.check_job = [folders = may_read_](const v1::Job& job) {
      RETURN_IF_ERROR(CheckCacheFiles(job));
      return CheckReadable(job, BelowFolders(folders));
    };
  }
  // A thread may wait forever for a task that never answers, so the process
  // ends without joining its threads.
  member.on_stop = [](const absl::Status& status) {
    const int code = ExitWith(status);
    google::FlushLogFiles(google::GLOG_INFO);
    _exit(code);
  };
  return member;
}

FileCheck TaskProgram::read_check() const {
  return may_read_.empty() ? nullptr : BelowFolders(may_read_);
}

ReadFence TaskProgram::fence() const {
  return may_read_.empty() ? ReadFence() : ReadFence(may_read_);
}

std::optional<int> ParseCommandLine(TaskType type, const std::string& version,
                                    CLI::App& app, int argc, char** argv) {
  const CLI::App& page = *app.add_subcommand(kManualPageVerb, kManualPageHelp);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kBadInput;
  }
  if (!page.parsed()) return std::nullopt;
  std::cout << ManualPage(TaskManualText(type), CommandsOf(app), version);
  return kSuccess;
}

int ExitWith(const absl::Status& status) {
  if (status.ok()) return kSuccess;
  LOG(ERROR) << status.message();
  return IsBadInput(status) || absl::IsUnimplemented(status) ? kBadInput
                                                             : kJobFailed;
}

}  // namespace paceline
