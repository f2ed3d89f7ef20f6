// `coordinator run`, `coordinator evaluate` and `coordinator validate
// --connect`: run a job from its file to its result.
#ifndef PACELINE_COORDINATOR_CLI_RUN_H_
#define PACELINE_COORDINATOR_CLI_RUN_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/process/interrupt.h"
#include "common/task/data_options.h"
#include "common/task/job_secret_options.h"
#include "common/tls/tls_files.h"

namespace paceline {

struct RunOptions {
  std::string job_path;
  // "path.to.field=value", each applied to the job.
  std::vector<std::string> overrides;
  // Folder for result.json, logs and checkpoints; "": out/<name of the job>.
  std::string output_dir;
  // Resumes from the latest checkpoint in the output folder.
  bool resume = false;
  // The checkpoint whose variables are evaluated on data.test, without
  // training; "": trains.
  std::string evaluate_checkpoint;
  // Only connects the tasks, and prints their addresses.
  bool connects_only = false;
  // Whether the metrics on data.test are printed as JSON.
  bool print_json = false;
  // The environment variable TF_CONFIG; "": a local cluster.
  std::string tf_config;
  // The options for the secret of a cluster with TF_CONFIG.
  JobSecretOptions secret;
  TlsFiles tls;
  // For the workers of a local cluster.
  DataOptions data;
  // The folder of this program, where the other programs are, too.
  std::string program_folder;
  // Of the programs that callbacks run; see LeaderOptions.
  std::vector<std::string> program_environment;
  // How long to wait until all tasks have registered and are ready.
  double start_timeout_seconds = 0;
  absl::Time process_start;
};

// Blocks until the job has ended and all processes that it started are gone.
// Returns the exit code. Call from the main thread.
int RunJob(const RunOptions& options, Interrupt& interrupt);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_RUN_H_
