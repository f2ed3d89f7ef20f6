// `coordinator validate`: checks a job, and prints what it and TF_CONFIG mean.
#ifndef PACELINE_COORDINATOR_CLI_VALIDATE_H_
#define PACELINE_COORDINATOR_CLI_VALIDATE_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace paceline {

struct ValidateOptions {
  std::string job_path;
  // "path.to.field=value", each applied to the job.
  std::vector<std::string> overrides;
  // The environment variable TF_CONFIG; "": not set.
  std::string tf_config;
  // Prints JSON instead of text.
  bool as_json = false;
};

// Reads and checks the whole job and prints a summary to `out`. With TF_CONFIG
// it also prints the resolved cluster, this task's role and its rank; in JSON
// under the keys "cluster", "task", "is_chief", "is_ps_coordinator", "rank" and
// "world_size". Prints to `messages` which ports were filled in, and what would
// prevent a valid job from running. Without TF_CONFIG it also checks that the
// job's files exist on this machine, but asks no server for those that it names
// by URL; with TF_CONFIG they are on the workers'
// machines.
absl::Status Validate(const ValidateOptions& options, std::ostream& out,
                      std::ostream& messages);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_VALIDATE_H_
