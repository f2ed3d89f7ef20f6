#include "coordinator/cli/lead.h"

#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/exit_code.h"
#include "common/base/file.h"
#include "common/base/read_fence.h"
#include "common/base/remote_url.h"
#include "common/base/status_macros.h"
#include "common/identity/job_secret.h"
#include "common/job/job_files.h"
#include "common/job/job_reader.h"
#include "common/job/readable_files.h"
#include "common/limits.h"
#include "common/process/lifetime.h"
#include "common/rpc/tls.h"
#include "common/session/leader/lead_job.h"
#include "common/session/leader/run_setup.h"
#include "common/task/tls_options.h"
#include "coordinator/local_cluster.h"
#include "coordinator/local_task_processes.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// The folders whose files the job may read: its own, in which the leader works,
// and those that the daemon opens to jobs.
std::vector<std::string> FoldersOf(const LeadOptions& options) {
  std::vector<std::string> folders = options.data_folders;
  folders.emplace_back(".");
  return folders;
}

// What the daemon lets jobs read: files below some folders, and URLs below some
// others.
absl::StatusOr<FileCheck> ReadableFor(const LeadOptions& options) {
  ASSIGN_OR_RETURN(std::vector<RemoteUrl> prefixes,
                   options.data_access.Prefixes());
  return [prefixes = std::move(prefixes),
          is_below = BelowFolders(FoldersOf(options))](
             const JobFile& file) -> absl::Status {
    if (!IsRemote(file.path)) return is_below(file);
    ASSIGN_OR_RETURN(const RemoteUrl url, ParseRemoteUrl(file.path));
    return Annotate(CheckAllowed(url, prefixes), url.Shown());
  };
}

// Tasks on other machines find the files in folders of their own.
void MakeRelative(v1::Job& job) {
  const std::string folder = absl::StrCat(fs::current_path().string(), "/");
  ChangeFiles(job, [&](std::string& path) {
    if (path.starts_with(folder)) path = path.substr(folder.size());
    // The folder itself.
    if (path.empty()) path = "./";
  });
}

// The daemons start all members of the job, once they know where it is led. An
// evaluator is no member: it reads the leader's folder, so it runs beside it.
class DaemonsTasks : public LocalTaskProcesses {
 public:
  DaemonsTasks(LocalClusterOptions evaluator, std::string port_file,
               std::function<bool()> interrupted)
      : LocalTaskProcesses(std::move(evaluator), std::move(interrupted)),
        port_file_(std::move(port_file)) {}

  absl::Status Start(int port) override {
    RETURN_IF_ERROR(LocalTaskProcesses::Start(port));
    return WriteFileAtomically(port_file_, absl::StrCat(port, "\n"));
  }

 private:
  const std::string port_file_;
};

// The job's evaluator, if it has one.
LocalClusterOptions EvaluatorOf(const LeadOptions& options,
                                const LeaderOptions& leader) {
  LocalClusterOptions cluster;
  cluster.job_path = options.job_path;
  cluster.overrides = options.overrides;
  cluster.output_dir = options.output_dir;
  cluster.program_folder = options.program_folder;
  cluster.log_folder = options.output_dir + "/logs";
  cluster.tls = options.tls;
  cluster.data = options.data_access;
  cluster.may_read = FoldersOf(options);
  if (leader.secret) cluster.secret = leader.secret->text();
  if (leader.job.evaluator()) cluster.tasks.push_back(kEvaluator);
  return cluster;
}

absl::StatusOr<LeaderOptions> MakeOptions(const LeadOptions& options) {
  LeaderOptions leader;
  if (options.lifetime_fd >= 0) {
    ASSIGN_OR_RETURN(const std::string secret, ReadLine(options.lifetime_fd));
    ASSIGN_OR_RETURN(leader.secret, JobSecret::FromText(secret));
    EndWithParent(options.lifetime_fd);
  }
  ASSIGN_OR_RETURN(leader.tls, Tls::Load(options.tls));
  JobReaderOptions reader;
  // The workers check theirs.
  reader.check_files = false;
  ASSIGN_OR_RETURN(reader.may_read, ReadableFor(options));
  leader.fence = ReadFence(FoldersOf(options));
  ASSIGN_OR_RETURN(leader.job, leader.fence.Run([&] {
    return ReadJobFile(options.job_path, options.overrides, reader);
  }));
  MakeRelative(leader.job);
  leader.tasks = LocalTasks(leader.job, /*evaluate=*/false);
  leader.is_placed_by_queue = true;
  leader.version = PACELINE_VERSION;
  leader.listen_address = options.listen_address;
  leader.output_dir = options.output_dir;
  leader.start_timeout = limits::kStartTimeout;
  leader.process_start = options.process_start;
  leader.allows_exec = options.allow_exec;
  leader.program_environment = options.program_environment;
  leader.progress = &std::cout;
  leader.progress_path = options.progress_file;
  return leader;
}

}  // namespace

void LeadOptions::AddTo(CLI::App& verb) {
  verb.add_option("JOB", job_path, "The job, YAML or JSON.")->required();
  verb.add_option("--set", overrides,
                  "path.to.field=value: changes a field of the job.");
  output_dir = "out";
  verb.add_option("--output", output_dir,
                  "Folder for the result and checkpoints.")
      ->capture_default_str();
  verb.add_option("--listen", listen_address, "host:port to listen on.")
      ->required();
  verb.add_option("--write_port", port_file,
                  "The file into which the port is written.")
      ->required();
  verb.add_option("--write_progress", progress_file,
                  "The file into which the progress is written.")
      ->required();
  verb.add_option("--data", data_folders,
                  "A folder outside the job's that the job may read.");
  data_access.AddTo(verb);
  data_access.AddFromTo(verb);
  verb.add_flag("--allow-exec", allow_exec,
                "The job's callbacks may run programs and send to addresses.");
  verb.add_flag("--resume", resume,
                "Goes on from the checkpoint in the output folder.");
  verb.add_option("--lifetime_fd", lifetime_fd,
                  "A pipe that gives the job's secret, and whose closing ends "
                  "this process; set by a daemon.");
  AddTlsOptions(verb, tls);
}

int Lead(const LeadOptions& options, Interrupt& interrupt) {
  absl::StatusOr<LeaderOptions> leader = MakeOptions(options);
  if (!leader.ok()) {
    std::cerr << "error: " << leader.status().message() << "\n";
    return kBadInput;
  }
  const auto interrupted = [&] { return interrupt.Taken(); };
  DaemonsTasks tasks(EvaluatorOf(options, *leader), options.port_file,
                     interrupted);
  return LeadJob(
      {*std::move(leader), options.resume, /*print_json=*/false, interrupted},
      tasks);
}

}  // namespace paceline
