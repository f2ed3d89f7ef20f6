#include "common/session/leader/run_setup.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/cluster/role.h"
#include "common/strategy/strategy_traits.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

void AddTasks(TaskType type, int count, std::vector<ExpectedTask>& tasks) {
  for (int index = 0; index < count; ++index) {
    tasks.push_back({{type, index}, ""});
  }
}

absl::Status AddListed(const ClusterSpec& cluster, TaskType type,
                       std::vector<ExpectedTask>& tasks) {
  int expected = 0;
  for (const auto& [index, address] : cluster.of(type)) {
    if (index != expected) {
      return absl::UnimplementedError(absl::StrCat(
          "TF_CONFIG: cluster.", TaskTypeName(type), " has no task ", expected,
          "; a run needs all tasks of a type, numbered from 0"));
    }
    tasks.push_back({{type, index}, address});
    ++expected;
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<ExpectedTask> LocalTasks(const v1::Job& job, bool evaluate) {
  std::vector<ExpectedTask> tasks;
  if (!evaluate) {
    AddTasks(TaskType::kPs, static_cast<int>(job.cluster().ps()), tasks);
  }
  AddTasks(TaskType::kWorker, static_cast<int>(job.cluster().worker()), tasks);
  return tasks;
}

absl::StatusOr<std::vector<ExpectedTask>> TasksOf(const TfConfig& config,
                                                  v1::Job& job) {
  if (config.is_dynamic) {
    return absl::UnimplementedError(
        "TF_CONFIG: Kubeflow's dynamic dialect lists only some tasks; a run "
        "needs all of them (enableDynamicWorker: false)");
  }
  const StrategyTraits& strategy = StrategyOf(job);
  ASSIGN_OR_RETURN(const Role role, ResolveRole(config, strategy));
  if (!role.leads) {
    return absl::InvalidArgumentError(
        absl::StrCat("TF_CONFIG: task ", config.task.ToString(),
                     " does not lead this job; expected ",
                     LeaderOf(config.cluster)->ToString()));
  }
  std::vector<ExpectedTask> tasks;
  // With parameter servers the chief only coordinates; otherwise it trains,
  // too.
  if (!strategy.has_parameter_servers()) {
    RETURN_IF_ERROR(AddListed(config.cluster, TaskType::kChief, tasks));
  }
  RETURN_IF_ERROR(AddListed(config.cluster, TaskType::kPs, tasks));
  RETURN_IF_ERROR(AddListed(config.cluster, TaskType::kWorker, tasks));
  const int ps_count = config.cluster.count(TaskType::kPs);
  job.mutable_cluster()->set_ps(ps_count);
  job.mutable_cluster()->set_worker(static_cast<uint32_t>(tasks.size()) -
                                    static_cast<uint32_t>(ps_count));
  if (!strategy.has_several_workers && tasks.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("TF_CONFIG: cluster: strategy ", strategy.name,
                     " runs in 1 worker or chief, got ", tasks.size()));
  }
  return tasks;
}

absl::Status PrepareOutput(const std::string& output_dir, bool resumes,
                           std::ostream& messages) {
  const fs::path output = output_dir;
  std::error_code error;
  const auto remove = [&](const char* name) {
    const bool is_gone = fs::remove_all(output / name, error) > 0 && !error;
    if (is_gone && !resumes) {
      messages << "deleted " << (output / name).string()
               << " of an earlier run\n";
    }
  };
  remove("result.json");
  if (resumes) return absl::OkStatus();
  remove("evaluator.csv");
  remove("model.keras");
  for (const char* const name : {"checkpoint", "phases"}) {
    const fs::path folder = output / name;
    if (!fs::exists(folder, error)) continue;
    const std::string previous_name = absl::StrCat(name, ".previous");
    remove(previous_name.c_str());
    const fs::path previous = output / previous_name;
    fs::rename(folder, previous, error);
    if (error) {
      return absl::ErrnoToStatus(
          error.value(), absl::StrCat("cannot move ", folder.string(), " to ",
                                      previous.string()));
    }
    messages << "moved " << folder.string() << " of an earlier run to "
             << previous.string() << "\n";
  }
  return absl::OkStatus();
}

}  // namespace paceline
