#include "common/task/job_secret_options.h"

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/cluster/task.h"
#include "glog/logging.h"

namespace paceline {
void JobSecretOptions::AddTo(CLI::App& app) {
  app.add_option("--job-secret-file", file,
                 "File with the job's secret, which all tasks of TF_CONFIG "
                 "share; instead of the environment variables "
                 "PACELINE_JOB_SECRET_FILE and PACELINE_JOB_SECRET.");
  app.add_flag("--insecure", is_insecure,
               "Without a secret, lets anybody who reaches the tasks of "
               "TF_CONFIG take part in the job.");
}

absl::StatusOr<std::optional<JobSecret>> FindJobSecret(
    const JobSecretOptions& options, const ClusterSpec& cluster) {
  const std::string& file =
      options.file.empty() ? options.environment_file : options.file;
  if (!file.empty() || !options.environment_text.empty()) {
    if (options.is_insecure) {
      return absl::InvalidArgumentError(
          "--insecure is for a job without a secret, and one is given; "
          "expected "
          "one of the two");
    }
    absl::StatusOr<JobSecret> secret =
        file.empty() ? JobSecret::FromText(options.environment_text)
                     : JobSecret::FromFile(file);
    if (!secret.ok()) return secret.status();
    return std::optional<JobSecret>(*std::move(secret));
  }
  const std::optional<TaskId> beyond = FirstBeyondLoopback(cluster);
  if (!beyond) return std::optional<JobSecret>();
  if (options.is_insecure) {
    LOG(WARNING)
        << "--insecure: whoever reaches this job's tasks can take part "
           "in it, read its variables and change them";
    return std::optional<JobSecret>();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(TaskName(*beyond, *cluster.address(*beyond)),
                   " is beyond this machine, and the job has no secret; "
                   "expected a file with "
                   "one for all tasks (--job-secret-file or ",
                   kSecretFileVariable,
                   "; `openssl rand -hex 32` makes one), "
                   "or --insecure on a network that nobody else reaches"));
}

absl::StatusOr<std::optional<JobSecret>> FindServiceSecret(
    const std::string& option_file, const std::string& environment_file,
    bool is_insecure) {
  const std::string& file =
      option_file.empty() ? environment_file : option_file;
  if (file.empty()) return std::optional<JobSecret>();
  if (is_insecure) {
    return absl::InvalidArgumentError(
        "--insecure is for a service without a secret, and one is given; "
        "expected one of the two");
  }
  ASSIGN_OR_RETURN(JobSecret secret, JobSecret::FromFile(file, "service"));
  return std::optional<JobSecret>(std::move(secret));
}

}  // namespace paceline
