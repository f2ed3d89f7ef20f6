// Where a task that was started by hand finds the job's secret.
#ifndef PACELINE_COMMON_TASK_JOB_SECRET_OPTIONS_H_
#define PACELINE_COMMON_TASK_JOB_SECRET_OPTIONS_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/cluster/cluster_spec.h"
#include "common/identity/job_secret.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}  // namespace CLI

namespace paceline {

// The environment variables that can have it.
inline constexpr char kSecretFileVariable[] = "PACELINE_JOB_SECRET_FILE";
inline constexpr char kSecretVariable[] = "PACELINE_JOB_SECRET";

struct JobSecretOptions {
  // --job-secret-file, and whether --insecure was given.
  std::string file;
  bool is_insecure = false;
  // The values of the environment variables; "": unset.
  std::string environment_file;
  std::string environment_text;

  // Adds the two options.
  void AddTo(CLI::App& app);
};

// The secret of the first that is given: the option, the file that the
// environment names, the environment itself. None if nothing is given, which is
// InvalidArgument with both remedies where a task of the cluster is beyond
// loopback, unless --insecure says that anybody may take part in the job.
absl::StatusOr<std::optional<JobSecret>> FindJobSecret(
    const JobSecretOptions& options, const ClusterSpec& cluster);

}  // namespace paceline

#endif  // PACELINE_COMMON_TASK_JOB_SECRET_OPTIONS_H_
