// Where a task that was started by hand finds the job's secret, and where a
// daemon or coordinator finds the service's.
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

// Environment variables for the secret.
inline constexpr char kSecretFileVariable[] = "PACELINE_JOB_SECRET_FILE";
inline constexpr char kSecretVariable[] = "PACELINE_JOB_SECRET";
// The one for the file with a service's secret.
inline constexpr char kServiceSecretFileVariable[] = "PACELINE_SECRET_FILE";

struct JobSecretOptions {
  // The values of --job-secret-file and --insecure.
  std::string file;
  bool is_insecure = false;
  // The values of the environment variables; "": unset.
  std::string environment_file;
  std::string environment_text;

  // Adds the two options.
  void AddTo(CLI::App& app);
};

// The secret from the first source that is set: the option, the file that the
// environment names, the environment itself. nullopt if none is set.
// InvalidArgument, with both remedies, if none is set although a task of the
// cluster is beyond loopback, unless --insecure allows anybody to call.
absl::StatusOr<std::optional<JobSecret>> FindJobSecret(
    const JobSecretOptions& options, const ClusterSpec& cluster);

// The secret of a service, from the file of --secret-file, else from that of
// kServiceSecretFileVariable; nullopt if neither is set. InvalidArgument if one
// is set together with --insecure.
absl::StatusOr<std::optional<JobSecret>> FindServiceSecret(
    const std::string& option_file, const std::string& environment_file,
    bool is_insecure);

}  // namespace paceline

#endif  // PACELINE_COMMON_TASK_JOB_SECRET_OPTIONS_H_
