#include "common/daemon/task_command.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/names.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/cluster/address.h"
#include "common/task/tls_options.h"
#include "common/transfer/job_paths.h"

namespace paceline {
namespace {

// What --threads of a worker takes.
constexpr uint64_t kMaxThreads = 1024;

void Append(const std::vector<std::string>& arguments,
            std::vector<std::string>& command) {
  command.insert(command.end(), arguments.begin(), arguments.end());
}

absl::Status AddLeadersOptions(const v1::TaskOrder& order,
                               const TaskPaths& paths,
                               const DaemonOptions& options,
                               std::vector<std::string>& command) {
  command.insert(command.end(),
                 {"lead", "job.yaml", absl::StrCat("--output=", kOutputFolder),
                  absl::StrCat("--write_port=", paths.port),
                  absl::StrCat("--write_progress=", paths.progress)});
  for (const std::string& override : order.overrides()) {
    command.push_back(absl::StrCat("--set=", override));
  }
  for (const std::string& folder : options.data_folders) {
    command.push_back(absl::StrCat("--data=", folder));
  }
  if (options.allows_exec) command.emplace_back("--allow-exec");
  Append(options.data_access.Arguments(), command);
  const absl::Status checkpoint =
      FindLatestCheckpoint(
          absl::StrCat(paths.job_folder, "/", kCheckpointFolder))
          .status();
  if (checkpoint.ok()) command.emplace_back("--resume");
  return absl::IsNotFound(checkpoint) ? absl::OkStatus() : checkpoint;
}

absl::Status AddMembersOptions(const v1::TaskOrder& order, const HeldTask& task,
                               const DaemonOptions& options,
                               std::vector<std::string>& command) {
  const absl::StatusOr<Address> leader = ParseAddress(order.leader_address());
  if (!leader.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("leader_address: \"", PeerText(order.leader_address()),
                     "\": ", leader.status().message()));
  }
  command.push_back(absl::StrCat("--coordinator=", order.leader_address()));
  command.push_back(absl::StrCat("--index=", task.task.index));
  // Its own folder, also if there is no other.
  command.emplace_back("--may_read=.");
  for (const std::string& folder : options.data_folders) {
    command.push_back(absl::StrCat("--may_read=", folder));
  }
  if (task.task.type == TaskType::kWorker) {
    // A worker without a limit may use all that the daemon has.
    const uint64_t millicores = order.resources().millicores() > 0
                                    ? order.resources().millicores()
                                    : options.total.millicores();
    command.push_back(absl::StrCat(
        "--threads=",
        std::clamp<uint64_t>((millicores + 999) / 1000, 1, kMaxThreads)));
    Append(options.data_access.Arguments(), command);
  }
  return absl::OkStatus();
}

std::string ProgramOf(const HeldTask& task) {
  if (task.is_leader()) return "coordinator";
  return task.task.type == TaskType::kPs ? "ps_server" : "worker";
}

}  // namespace

absl::StatusOr<TaskPaths> TaskPaths::Of(const std::string& work_folder,
                                        const HeldTask& task) {
  RETURN_IF_ERROR(CheckSafeName("job", task.job));
  const std::string home = absl::StrCat(work_folder, "/jobs/", task.job);
  TaskPaths paths;
  paths.job_folder = home + "/files";
  paths.log_folder = absl::StrCat(home, "/logs/", task.generation);
  paths.log = absl::StrCat(paths.log_folder, "/", task.Name(), ".log");
  paths.port = absl::StrCat(paths.log_folder, "/", task.Name(), ".port");
  paths.progress =
      absl::StrCat(paths.log_folder, "/", task.Name(), ".progress");
  return paths;
}

absl::StatusOr<ChildOptions> CommandFor(const v1::TaskOrder& order,
                                        const HeldTask& task,
                                        const TaskPaths& paths,
                                        const DaemonOptions& options,
                                        const std::string& host,
                                        const std::vector<int>& gpus) {
  ChildOptions child;
  child.command = {
      absl::StrCat(options.place.program_folder, "/", ProgramOf(task))};
  if (task.is_leader()) {
    RETURN_IF_ERROR(AddLeadersOptions(order, paths, options, child.command));
  } else {
    RETURN_IF_ERROR(AddMembersOptions(order, task, options, child.command));
  }
  child.command.push_back(
      absl::StrCat("--listen=", Address{host, 0, true}.ToString()));
  if (options.tls != nullptr) {
    Append(TlsArguments(options.tls->files()), child.command);
  }
  child.environment.emplace_back("TF_CONFIG", "");
  // The service's secret is not for its jobs.
  child.environment.emplace_back(kServiceSecretFileVariable, "");
  // Where there are none, the variable says nothing.
  if (options.total.gpus() > 0) {
    child.environment.emplace_back("CUDA_VISIBLE_DEVICES",
                                   absl::StrJoin(gpus, ","));
  }
  if (!order.secret().empty()) {
    ASSIGN_OR_RETURN(const JobSecret secret,
                     JobSecret::FromText(order.secret()));
    child.line = secret.text();
  }
  child.working_folder = paths.job_folder;
  child.log_path = paths.log;
  return child;
}

}  // namespace paceline
