#include "common/session/lead_job.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/session/exit_code.h"
#include "common/session/outcome.h"
#include "common/session/run_setup.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

int Fail(const absl::Status& status, int code) {
  std::cerr << "error: " << status.message() << "\n";
  return code;
}

// Prints the values of data.test.
void PrintEvaluation(const Logs& logs, bool as_json) {
  nlohmann::ordered_json values;
  std::vector<std::string> texts;
  for (const auto& [name, value] : logs) {
    values[name] = value;
    texts.push_back(absl::StrFormat("%s: %.4f", name, value));
  }
  std::cout << (as_json ? values.dump() : absl::StrJoin(texts, " - ")) << "\n";
}

// Prints the tasks that were brought together.
void PrintTasks(const std::vector<TaskView>& tasks) {
  for (const TaskView& task : tasks) {
    std::cout << absl::StrFormat("%-12s%s\n", task.id.ToString(),
                                 task.address.empty() ? "-" : task.address);
  }
  std::cout << "all " << tasks.size() << " tasks agree and are connected\n";
}

}  // namespace

int LeadJob(const LeadJobOptions& options, OwnTasks& own_tasks) {
  const absl::StatusOr<std::unique_ptr<Leader>> leader =
      Leader::Start(options.leader);
  if (!leader.ok()) return Fail(leader.status(), kBadInput);
  // Only now: a leader that cannot start leaves what was there alone.
  const bool keeps_checkpoints = !options.leader.restore_path.empty() ||
                                 !options.leader.evaluate_checkpoint.empty();
  if (!options.leader.connects_only) {
    const absl::Status prepared =
        PrepareOutput(options.leader.output_dir, keeps_checkpoints);
    if (!prepared.ok()) return Fail(prepared, kBadInput);
  }
  const absl::Status started = own_tasks.Start((*leader)->port());
  if (!started.ok()) return Fail(started, kJobFailed);
  const Outcome outcome = (*leader)->Run([&] {
    for (const auto& [task, exit_code] : own_tasks.TakeExits()) {
      (*leader)->TaskExited(task, exit_code);
    }
    if (options.interrupted()) {
      (*leader)->Stop(absl::CancelledError("stopped by a signal"));
    }
  });
  own_tasks.Shutdown();

  absl::Status written;
  if (!options.leader.connects_only) {
    written =
        WriteOutcome(options.leader.output_dir, options.leader.job, outcome,
                     [&](TaskId task) { return own_tasks.exit_code(task); });
  }
  if (!outcome.evaluation.empty()) {
    PrintEvaluation(outcome.evaluation, options.print_json);
  }
  if (options.leader.connects_only && outcome.status.ok() &&
      !options.print_json) {
    PrintTasks(outcome.tasks);
  }
  if (!outcome.status.ok()) Fail(outcome.status, kJobFailed);
  if (!written.ok()) Fail(written, kJobFailed);
  std::cout.flush();
  own_tasks.ShutdownEvaluator(outcome.status.ok());
  return written.ok() ? ExitCode(outcome)
                      : std::max(ExitCode(outcome), kJobFailed);
}

}  // namespace paceline
