// The options of a daemon of a service.
#ifndef PACELINE_COMMON_DAEMON_DAEMON_OPTIONS_H_
#define PACELINE_COMMON_DAEMON_DAEMON_OPTIONS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cluster/task.h"
#include "common/identity/job_secret.h"
#include "common/rpc/tls.h"
#include "common/task/data_options.h"
#include "common/task/job_secret_options.h"
#include "common/tls/tls_files.h"
#include "paceline/v1/queue.pb.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}  // namespace CLI

namespace paceline {

// What the user says on the command line.
struct DaemonFlags {
  std::string name;
  std::string work;
  // 0: those of the machine.
  double cores = 0;
  std::string memory;
  std::vector<std::string> labels;
  std::string advertise;
  std::vector<std::string> data;
  bool allow_exec = false;
  std::string secret_file;

  void AddTo(CLI::App& app);
};

// What the program knows.
struct DaemonPlace {
  // TaskType::kPs or TaskType::kWorker: what the daemon runs.
  TaskType type = TaskType::kWorker;
  // The service's coordinator, "host:port".
  std::string coordinator;
  // The value of --insecure.
  bool is_insecure = false;
  // The value of kServiceSecretFileVariable; "": unset.
  std::string environment_secret_file;
  // The values of the options of TLS.
  TlsFiles tls_files;
  // The values of --data-cache and --data-cache-size; of a ps, the defaults.
  DataOptions data;
  // Of the programs.
  std::string version;
  // The folder with the programs that tasks are.
  std::string program_folder;
};

struct DaemonOptions {
  DaemonPlace place;
  // Unique in the service.
  std::string name;
  // The folder for jobs, absolute.
  std::string work_folder;
  // What the daemon has for tasks.
  v1::Resources total;
  std::map<std::string, std::string> labels;
  // The host at which others reach the tasks; "": the address from which this
  // machine reaches the coordinator.
  std::string advertised_host;
  // Folders outside the jobs' own that jobs may read, absolute.
  std::vector<std::string> data_folders;
  // See CallbackContext.
  bool allows_exec = false;
  // How tasks fetch data by URL, and which: only what --data allows.
  DataOptions data_access;
  std::optional<JobSecret> secret;
  // For the connections of the daemon, and, by its files, of its tasks; null:
  // they are plain.
  std::shared_ptr<const Tls> tls;
};

// Checks the flags, and asks the machine for what they leave open.
// InvalidArgument names the option, its value and what is expected; it has both
// remedies if there is no secret although the coordinator is, or may be, on
// another machine.
absl::StatusOr<DaemonOptions> ResolveDaemonOptions(const DaemonFlags& flags,
                                                   const DaemonPlace& place);

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_DAEMON_OPTIONS_H_
