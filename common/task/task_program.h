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
#include "common/session/member.h"

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
};

class TaskProgram {
 public:
  explicit TaskProgram(TaskType type) : type_(type) {}

  // Adds --coordinator, --type (of a worker), --index, --listen,
  // --start_timeout and --lifetime_fd.
  void AddOptions(CLI::App& app);

  // The place that the options give, or else `tf_config`, the value of
  // TF_CONFIG. InvalidArgument if neither does, or the task is of another type.
  // Starts to watch the parent if the options ask for it.
  absl::StatusOr<TaskPlace> Resolve(const std::string& tf_config);

  // The membership of the task at `place`: its process ends with exit code 1
  // when the leader is lost, and with 0 when the leader wants it to.
  MemberOptions MemberFor(const TaskPlace& place,
                          const std::string& version) const;

  absl::Duration start_timeout() const {
    return absl::Seconds(start_timeout_seconds_);
  }

 private:
  absl::StatusOr<TaskPlace> FromTfConfig(const std::string& text) const;

  const TaskType type_;
  std::string type_name_;
  std::string coordinator_;
  int index_ = 0;
  std::string listen_ = "[::]:0";
  double start_timeout_seconds_;
  int lifetime_fd_ = -1;
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
