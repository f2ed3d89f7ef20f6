// `coordinator lead`: the leader of a service's job, which a daemon starts as a
// task of the job. It works in the job's folder.
#ifndef PACELINE_COORDINATOR_CLI_LEAD_H_
#define PACELINE_COORDINATOR_CLI_LEAD_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/process/interrupt.h"
#include "common/task/data_options.h"
#include "common/tls/tls_files.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}  // namespace CLI

namespace paceline {

struct LeadOptions {
  std::string job_path;
  std::vector<std::string> overrides;
  // Relative to the job's folder.
  std::string output_dir;
  // "host:port"; port 0 picks a free port.
  std::string listen_address;
  // The file that tells the daemon the port.
  std::string port_file;
  // The file that tells the daemon the progress.
  std::string progress_file;
  // The folder of the program `worker`, for an evaluator.
  std::string program_folder;
  // Folders outside the job's that the job may read.
  std::vector<std::string> data_folders;
  // The URLs that its data may have, and, for an evaluator, their cache.
  DataOptions data_access;
  bool allow_exec = false;
  // Of the programs that callbacks run; see LeaderOptions.
  std::vector<std::string> program_environment;
  bool resume = false;
  // See Child.
  int lifetime_fd = -1;
  TlsFiles tls;
  absl::Time process_start;

  // Adds the options to the verb.
  void AddTo(CLI::App& verb);
};

// Leads the job to its end. Returns the exit code.
int Lead(const LeadOptions& options, Interrupt& interrupt);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_LEAD_H_
