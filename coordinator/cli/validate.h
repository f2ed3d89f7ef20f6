// `coordinator validate`: checks a job, and says what it and TF_CONFIG amount
// to.
#ifndef PACELINE_COORDINATOR_CLI_VALIDATE_H_
#define PACELINE_COORDINATOR_CLI_VALIDATE_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace paceline {

struct ValidateOptions {
  std::string job_path;
  // "path.to.field=value", applied to the job.
  std::vector<std::string> overrides;
  // The environment variable; "": not set.
  std::string tf_config;
  // JSON rather than lines for people.
  bool as_json = false;
};

// Reads the job in full and prints a summary to `out`; with TF_CONFIG also the
// resolved cluster, this task's role and its rank, as JSON under the keys
// "cluster", "task", "is_chief", "is_ps_coordinator", "rank" and "world_size".
// What else there is to say goes to `messages`: ports filled in, and what would
// keep a valid job from running. The job's files are looked for on this
// machine, unless TF_CONFIG is set: then they are where the workers are.
absl::Status Validate(const ValidateOptions& options, std::ostream& out,
                      std::ostream& messages);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_VALIDATE_H_
