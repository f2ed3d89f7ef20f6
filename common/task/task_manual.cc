#include "common/task/task_manual.h"

#include "absl/strings/str_cat.h"

namespace paceline {
namespace {

// Of a worker, which fetches data.
const std::vector<ManualText::Entry>& DataVariables() {
  static const auto& entries = *new std::vector<ManualText::Entry>(
      {{"AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN",
        "Keys of the S3 that a job's data comes from."},
       {"AWS_REGION, AWS_ENDPOINT_URL", "Its region, and its address."},
       {"http_proxy, https_proxy, no_proxy, SSL_CERT_FILE",
        "How the servers of a job's data are reached, and the file with the "
        "authorities by which they are checked."}});
  return entries;
}

}  // namespace

ManualText TaskManualText(TaskType type) {
  const bool is_worker = type == TaskType::kWorker;
  const std::string program = is_worker ? "worker" : "ps_server";
  // Of its unit of systemd, and its folder.
  const std::string unit = is_worker ? "paceline-worker" : "paceline-ps";
  ManualText text = {
      .name = absl::StrCat("paceline-", program),
      .program = absl::StrCat("/usr/lib/paceline/", program),
      .section = 8,
      .summary = is_worker
                     ? "computes the gradients of Paceline's training jobs"
                     : "holds the variables of Paceline's training jobs",
      .environment =
          {{"TF_CONFIG",
            "The cluster and this task's place in it, as TensorFlow and "
            "Kubeflow write it."},
           {"PACELINE_JOB_SECRET_FILE, PACELINE_JOB_SECRET",
            "The secret of a job whose tasks are started by hand."},
           {"PACELINE_SECRET_FILE",
            "The file with the secret of the service of which this is a "
            "daemon."}},
      .files = {{absl::StrCat("/etc/default/", unit),
                 absl::StrCat("The options of the unit ", unit, ".service.")},
                {"/etc/paceline/secret",
                 "The secret that units of systemd use."},
                {absl::StrCat("/var/lib/", unit),
                 "The folder for jobs of the unit."}},
      .exit_codes =
          {{"0", "The job, or the daemon, has ended as it should."},
           {"1", "It failed, or was given up by those it worked for."},
           {"2", "Wrong use, or a bad job or data file."},
           {"138",
            "A signal ended a task whose place a new process may take."}},
      .see_also = "paceline(1)",
  };
  if (is_worker) {
    text.environment.insert(text.environment.end(), DataVariables().begin(),
                            DataVariables().end());
  }
  return text;
}

}  // namespace paceline
