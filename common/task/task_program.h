// What the programs of tasks have in common: their options, their place in the
// cluster, and how they end.
#ifndef PACELINE_COMMON_TASK_TASK_PROGRAM_H_
#define PACELINE_COMMON_TASK_TASK_PROGRAM_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/cluster/task.h"
#include "common/cluster/tf_config.h"
#include "common/identity/job_secret.h"
#include "common/session/member.h"
#include "common/task/job_secret_options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}  // namespace CLI

namespace paceline {

// Where a task is, and where its leader. An evaluator has a task alone.
struct TaskPlace {
  TaskId task;
  std::string coordinator_address;
  // "host:port" to listen on; port 0 takes a free one.
  std::string listen_address;
  // What others reach the task by; "": where it listens.
  std::string advertised_address;
  // Set if the place comes from TF_CONFIG.
  std::optional<TfConfig> tf_config;
  // By TF_CONFIG: this task leads the job beside its own work.
  bool leads = false;
  // What it proves to others that it belongs to the job with, if all do.
  std::optional<JobSecret> secret;
};

// The environment variables that a task reads; "": unset.
struct TaskEnvironment {
  std::string tf_config;
  std::string job_secret_file;
  std::string job_secret;

  // As `get`, std::getenv in a main.cc, tells their values.
  static TaskEnvironment From(char* (*get)(const char* name));
};

class TaskProgram {
 public:
  explicit TaskProgram(TaskType type) : type_(type) {}

  // Adds --coordinator, --type (of a worker), --index, --listen,
  // --start_timeout, --lifetime_fd, --job-secret-file and --insecure.
  void AddOptions(CLI::App& app);

  // The place that the options give, or else TF_CONFIG. InvalidArgument if
  // neither does, the task is of another type, or the secret is missing or
  // none. If the options name a pipe of the parent's, takes the secret from it,
  // and starts to watch the parent.
  absl::StatusOr<TaskPlace> Resolve(const TaskEnvironment& environment);

  // The membership of the task at `place`: its process ends with exit code 1
  // when the leader is lost, and with 0 when the leader wants it to.
  MemberOptions MemberFor(const TaskPlace& place,
                          const std::string& version) const;

  absl::Duration start_timeout() const {
    return absl::Seconds(start_timeout_seconds_);
  }

 private:
  absl::StatusOr<TaskPlace> FromOptions() const;
  absl::StatusOr<TaskPlace> FromTfConfig(const std::string& text) const;

  const TaskType type_;
  std::string type_name_;
  std::string coordinator_;
  int index_ = 0;
  std::string listen_;
  double start_timeout_seconds_;
  int lifetime_fd_ = -1;
  JobSecretOptions secret_;
};

// Parses the command line. Returns the exit code if the process is to end: 0
// after
// --help or --version, 2 for wrong use.
std::optional<int> ParseCommandLine(CLI::App& app, int argc, char** argv);

// Logs an error; returns the exit code for it: 0 if OK, 2 for wrong use,
// else 1.
int ExitWith(const absl::Status& status);

}  // namespace paceline

#endif  // PACELINE_COMMON_TASK_TASK_PROGRAM_H_
