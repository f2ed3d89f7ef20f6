#include "coordinator/cli/service/submission.h"

#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/option_text.h"
#include "common/base/status_macros.h"
#include "common/identity/mac.h"
#include "common/session/leader/run_setup.h"

namespace paceline {
namespace {

// Of a random key.
constexpr size_t kKeyBytes = 16;

void AddLabels(CLI::App& app, const std::string& option,
               std::vector<std::string>& labels) {
  app.add_option(option, labels,
                 "KEY=VALUE: only on daemons with this label; may be repeated.")
      ->allow_extra_args(false);
}

absl::StatusOr<v1::TaskGroup> MakeGroup(const std::string& type,
                                        const GroupOptions& options) {
  v1::TaskGroup group;
  const std::string prefix = absl::StrCat("--", type, "-");
  v1::Resources& each = *group.mutable_each();
  ASSIGN_OR_RETURN(const uint64_t millicores,
                   ParseCores(prefix + "cores", options.cores));
  each.set_millicores(millicores);
  if (!options.memory.empty()) {
    ASSIGN_OR_RETURN(const uint64_t bytes,
                     ParseSize(prefix + "memory", options.memory));
    each.set_memory_bytes(bytes);
  }
  each.set_gpus(options.gpus);
  for (const std::string& label : options.labels) {
    ASSIGN_OR_RETURN(auto key_value, ParseLabel(prefix + "label", label));
    (*group.mutable_labels())[key_value.first] = std::move(key_value.second);
  }
  return group;
}

absl::Status AddGroups(const SubmitOptions& options, const v1::Job& job,
                       v1::Submission& submission) {
  int ps = 0;
  int workers = 0;
  for (const ExpectedTask& task : LocalTasks(job, /*evaluate=*/false)) {
    ++(task.id.type == TaskType::kPs ? ps : workers);
  }
  if (ps > 0) {
    ASSIGN_OR_RETURN(v1::TaskGroup group, MakeGroup("ps", options.ps));
    group.set_type(v1::TASK_TYPE_PS);
    group.set_count(ps);
    *submission.add_groups() = std::move(group);
  }
  ASSIGN_OR_RETURN(v1::TaskGroup group, MakeGroup("worker", options.worker));
  group.set_type(v1::TASK_TYPE_WORKER);
  group.set_count(workers);
  *submission.add_groups() = std::move(group);
  return absl::OkStatus();
}

}  // namespace

void SubmitOptions::AddTo(CLI::App& app) {
  app.add_option("--set", overrides,
                 "path.to.field=value: changes a field of the job; may be "
                 "repeated.")
      ->allow_extra_args(false);
  app.add_option("--name", name,
                 "What the job's id begins with; default the job's name.");
  app.add_option("--priority", priority,
                 "Jobs of a higher priority start first.")
      ->capture_default_str();
  app.add_option("--idempotency-key", idempotency_key,
                 "A second submission with this key is the first one again; "
                 "default a new key.");
  app.add_option("--retries", retries,
                 "How often a job that failed is started again.")
      ->capture_default_str();
  app.add_option("--timeout", timeout,
                 "How long the job may take from its first start on: 90s, "
                 "1h30m, 2d; default any time.");
  for (auto& [type, group] :
       {std::pair<std::string, GroupOptions&>("worker", worker), {"ps", ps}}) {
    app.add_option(absl::StrCat("--", type, "-cores"), group.cores,
                   absl::StrCat("Cores of each ", type, ": 4, 0.5."))
        ->capture_default_str();
    app.add_option(absl::StrCat("--", type, "-memory"), group.memory,
                   absl::StrCat("Memory of each ", type,
                                ": 512MiB, 4GiB; default none is reserved, and "
                                "there is no limit."));
    AddLabels(app, absl::StrCat("--", type, "-label"), group.labels);
  }
  app.add_option("--worker-gpus", worker.gpus, "GPUs of each worker.")
      ->capture_default_str();
}

absl::StatusOr<v1::Submission> MakeSubmission(const SubmitOptions& options,
                                              const JobBundle& bundle) {
  v1::Submission submission;
  submission.set_idempotency_key(
      !options.idempotency_key.empty()
          ? options.idempotency_key
          : absl::BytesToHexString(RandomBytes(kKeyBytes)));
  submission.set_name(options.name.empty() ? bundle.job.name() : options.name);
  submission.set_priority(options.priority);
  submission.set_retries(options.retries);
  if (!options.timeout.empty()) {
    ASSIGN_OR_RETURN(const absl::Duration timeout,
                     ParseDuration("--timeout", options.timeout));
    submission.set_timeout_micros(absl::ToInt64Microseconds(timeout));
  }
  RETURN_IF_ERROR(AddGroups(options, bundle.job, submission));
  // The leader only coordinates: it needs no core of its own.
  submission.mutable_leader();
  for (const BundledFile& each : bundle.files) {
    *submission.add_files() = each.file;
  }
  submission.mutable_overrides()->Assign(bundle.overrides.begin(),
                                         bundle.overrides.end());
  return submission;
}

}  // namespace paceline
