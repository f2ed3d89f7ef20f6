// `coordinator run`, `coordinator evaluate` and `coordinator validate
// --connect`: a job from its file to its result.
#ifndef PACELINE_COORDINATOR_CLI_RUN_H_
#define PACELINE_COORDINATOR_CLI_RUN_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/process/interrupt.h"
#include "common/task/job_secret_options.h"

namespace paceline {

struct RunOptions {
  std::string job_path;
  // "path.to.field=value", applied to the job.
  std::vector<std::string> overrides;
  // Where result.json, logs and checkpoints go; "": out/<name of the job>.
  std::string output_dir;
  // Goes on from the output folder's checkpoint.
  bool resume = false;
  // Only evaluates data.test with the variables of this checkpoint; "": trains.
  std::string evaluate_checkpoint;
  // Only brings the tasks together, and prints where they are.
  bool connects_only = false;
  // Whether what is evaluated is printed as JSON.
  bool print_json = false;
  // The environment variable; "": a local cluster.
  std::string tf_config;
  // Of a cluster that TF_CONFIG describes.
  JobSecretOptions secret;
  // Where this program is: the others are beside it.
  std::string program_folder;
  // Until which all tasks must be there.
  double start_timeout_seconds = 0;
  absl::Time process_start;
};

// Blocks until the job has ended and nothing it started is left. Returns the
// exit code. Call from the main thread.
int RunJob(const RunOptions& options, Interrupt& interrupt);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_RUN_H_
