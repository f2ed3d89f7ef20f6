// What the programs `worker` and `ps_server` share: options, the place in the
// cluster, and the exit code.
#ifndef PACELINE_COMMON_TASK_TASK_PROGRAM_H_
#define PACELINE_COMMON_TASK_TASK_PROGRAM_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/read_fence.h"
#include "common/cluster/task.h"
#include "common/cluster/tf_config.h"
#include "common/identity/job_secret.h"
#include "common/job/job_files.h"
#include "common/rpc/tls.h"
#include "common/session/member/member.h"
#include "common/task/job_secret_options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}  // namespace CLI

namespace paceline {

// Where a task and its leader listen. For an evaluator only `task` is set.
struct TaskPlace {
  TaskId task;
  std::string coordinator_address;
  // "host:port" to listen on; port 0 picks a free port.
  std::string listen_address;
  // The address at which others reach the task; "": the one it listens on.
  std::string advertised_address;
  // Set if the place comes from TF_CONFIG.
  std::optional<TfConfig> tf_config;
  // With TF_CONFIG: whether this task leads the job beside its own work.
  bool leads = false;
  // The job's secret, with which tasks prove to each other that they belong to
  // the job; nullopt: the job has none.
  std::optional<JobSecret> secret;
  // Of all connections; null: they are plain.
  std::shared_ptr<const Tls> tls;
};

// The values of the environment variables that a task reads; "": unset.
struct TaskEnvironment {
  std::string tf_config;
  std::string job_secret_file;
  std::string job_secret;

  // Reads the variables by `get`, which is std::getenv in main.cc.
  static TaskEnvironment From(char* (*get)(const char* name));
};

class TaskProgram {
 public:
  explicit TaskProgram(TaskType type) : type_(type) {}

  // Adds --coordinator, --type (of a worker), --index, --listen,
  // --start_timeout, --lifetime_fd, --may_read, --job-secret-file, --insecure
  // and those of TLS.
  void AddOptions(CLI::App& app);

  // Whether the options ask for a daemon of a service (common/daemon) instead
  // of a task: they name a coordinator, and no index.
  bool IsDaemon() const { return !coordinator_.empty() && !index_; }
  TaskType type() const { return type_; }
  const std::string& coordinator() const { return coordinator_; }
  bool is_insecure() const { return secret_.is_insecure; }
  const TlsFiles& tls_files() const { return tls_; }

  // The place from the options, or else from TF_CONFIG. InvalidArgument if
  // neither gives one, the task is of another type, or the secret is missing or
  // invalid, or a file of TLS is. If the options name a pipe from the parent
  // process, reads the secret from it and starts to watch the parent.
  absl::StatusOr<TaskPlace> Resolve(const TaskEnvironment& environment);

  // The options for the session's Member at `place`. The process will end with
  // exit code 1 when the leader is lost, and with 0 when the leader ends the
  // task.
  MemberOptions MemberFor(const TaskPlace& place,
                          const std::string& version) const;

  // Whether a path is below a folder of --may_read; null without one.
  FileCheck read_check() const;
  // Around the folders of --may_read, for what opens the job's files.
  ReadFence fence() const;

  absl::Duration start_timeout() const {
    return absl::Seconds(start_timeout_seconds_);
  }

 private:
  absl::StatusOr<TaskPlace> FromOptions() const;
  absl::StatusOr<TaskPlace> FromTfConfig(const std::string& text) const;

  const TaskType type_;
  std::string type_name_;
  std::string coordinator_;
  std::optional<int> index_;
  std::string listen_;
  double start_timeout_seconds_;
  int lifetime_fd_ = -1;
  std::vector<std::string> may_read_;
  JobSecretOptions secret_;
  TlsFiles tls_;
};

// Adds the verb `man` and parses the command line of the program for tasks of
// `type`. Returns the exit code if the process has to end: 0 after --help,
// --version or `man`, 2 for wrong use.
std::optional<int> ParseCommandLine(TaskType type, const std::string& version,
                                    CLI::App& app, int argc, char** argv);

// Logs an error and returns its exit code: 0 if OK, 2 for wrong use, else 1.
int ExitWith(const absl::Status& status);

}  // namespace paceline

#endif  // PACELINE_COMMON_TASK_TASK_PROGRAM_H_
