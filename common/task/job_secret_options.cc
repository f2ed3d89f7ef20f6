#include "common/task/job_secret_options.h"

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/cluster/address.h"
#include "common/cluster/task.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// "worker-1 at 10.0.0.2:2222": the first task that is on another machine, or
// may be; "" if there is none. An evaluator speaks to nobody.
std::string FirstBeyondLoopback(const ClusterSpec& cluster) {
  for (const auto& [type, tasks] : cluster.tasks) {
    if (type == TaskType::kEvaluator) continue;
    for (const auto& [index, address] : tasks) {
      const absl::StatusOr<Address> parsed = ParseAddress(address);
      if (parsed.ok() && IsLoopback(*parsed)) continue;
      return absl::StrCat(TaskId{type, index}.ToString(), " at ", address);
    }
  }
  return "";
}

}  // namespace

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
  const std::string beyond = FirstBeyondLoopback(cluster);
  if (beyond.empty()) return std::optional<JobSecret>();
  if (options.is_insecure) {
    LOG(WARNING)
        << "--insecure: whoever reaches this job's tasks can take part "
           "in it, read its variables and change them";
    return std::optional<JobSecret>();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("TF_CONFIG: ", beyond,
                   " is beyond this machine, and the job has no secret; "
                   "expected a file with "
                   "one for all tasks (--job-secret-file or ",
                   kSecretFileVariable,
                   "; `openssl rand -hex 32` makes one), "
                   "or --insecure on a network that nobody else reaches"));
}

}  // namespace paceline
