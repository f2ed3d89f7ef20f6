#include "coordinator/local_cluster.h"

#include <signal.h>

#include <algorithm>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/cores.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "common/task/tls_options.h"

namespace paceline {
namespace {

// Interval at which ended children are polled for.
constexpr absl::Duration kPollInterval = absl::Milliseconds(10);

// An evaluator is started like one started by hand, since it is no member of
// the job.
void AddEvaluatorsPlace(const LocalClusterOptions& options,
                        ChildOptions& child) {
  child.environment.emplace_back(
      "TF_CONFIG", R"({"task": {"type": "evaluator", "index": 0}})");
  child.command.push_back(absl::StrCat("--job=", options.job_path));
  child.command.push_back(absl::StrCat("--output=", options.output_dir));
  for (const std::string& override : options.overrides) {
    child.command.push_back(absl::StrCat("--set=", override));
  }
  for (const std::string& folder : options.may_read) {
    child.command.push_back(absl::StrCat("--may_read=", folder));
  }
}

void AddMembersPlace(const LocalClusterOptions& options, TaskId task,
                     ChildOptions& child) {
  child.environment.emplace_back("TF_CONFIG", "");
  child.command.push_back(
      absl::StrCat("--coordinator=", options.coordinator_address));
  child.command.push_back(absl::StrCat("--index=", task.index));
  if (task.type == TaskType::kChief) child.command.emplace_back("--type=chief");
  child.command.emplace_back("--listen=127.0.0.1:0");
  const std::vector<std::string> tls = TlsArguments(options.tls);
  child.command.insert(child.command.end(), tls.begin(), tls.end());
}

ChildOptions TaskProcess(const LocalClusterOptions& options, TaskId task,
                         int threads) {
  const bool is_ps = task.type == TaskType::kPs;
  ChildOptions child;
  child.command = {
      absl::StrCat(options.program_folder, is_ps ? "/ps_server" : "/worker")};
  if (!is_ps) {
    child.command.push_back(absl::StrCat("--threads=", threads));
    const std::vector<std::string> data = options.data.Arguments();
    child.command.insert(child.command.end(), data.begin(), data.end());
  }
  if (task == kEvaluator) {
    AddEvaluatorsPlace(options, child);
  } else {
    AddMembersPlace(options, task, child);
  }
  child.line = options.secret;
  child.log_path =
      absl::StrCat(options.log_folder, "/", task.ToString(), ".log");
  return child;
}

// Waits until `goes_on` is false, or `timeout` has passed.
void AwaitEnd(absl::Duration timeout, absl::FunctionRef<bool()> goes_on) {
  const absl::Time deadline = MonotonicNow() + timeout;
  while (goes_on() && MonotonicNow() < deadline) absl::SleepFor(kPollInterval);
}

}  // namespace

absl::StatusOr<LocalCluster> LocalCluster::Start(
    const LocalClusterOptions& options) {
  const auto workers =
      std::count_if(options.tasks.begin(), options.tasks.end(),
                    [](TaskId task) { return task.type == TaskType::kWorker; });
  const int threads =
      std::max(1, UsableCores() / std::max(1, static_cast<int>(workers)));
  LocalCluster cluster;
  for (const TaskId task : options.tasks) {
    absl::StatusOr<Child> child = Child::Spawn(
        TaskProcess(options, task, task == kEvaluator ? 1 : threads));
    if (!child.ok()) return Annotate(child.status(), task.ToString());
    cluster.running_.emplace(task, *std::move(child));
  }
  return cluster;
}

std::vector<std::pair<TaskId, int>> LocalCluster::TakeExits() {
  std::vector<std::pair<TaskId, int>> exits;
  for (auto it = running_.begin(); it != running_.end();) {
    const std::optional<int> code = it->second.Poll();
    if (!code.has_value()) {
      ++it;
      continue;
    }
    exits.emplace_back(it->first, *code);
    exit_codes_[it->first] = *code;
    it = running_.erase(it);
  }
  return exits;
}

void LocalCluster::Shutdown(absl::Duration timeout) {
  const auto members_run = [this] {
    TakeExits();
    return running_.size() > running_.count(kEvaluator);
  };
  AwaitEnd(timeout, members_run);
  for (auto& [task, child] : running_) {
    if (task != kEvaluator) child.Kill(SIGKILL);
  }
  AwaitEnd(limits::kExitTimeout, members_run);
}

void LocalCluster::ShutdownEvaluator(absl::Duration timeout,
                                     const std::function<bool()>& interrupted) {
  const auto evaluator_runs = [this] {
    TakeExits();
    return running_.contains(kEvaluator);
  };
  AwaitEnd(timeout, [&] { return evaluator_runs() && !interrupted(); });
  if (!evaluator_runs()) return;
  running_.at(kEvaluator).Kill(SIGKILL);
  AwaitEnd(limits::kExitTimeout, evaluator_runs);
}

std::optional<int> LocalCluster::exit_code(TaskId task) const {
  const auto it = exit_codes_.find(task);
  if (it == exit_codes_.end()) return std::nullopt;
  return it->second;
}

}  // namespace paceline
