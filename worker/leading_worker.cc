#include "worker/leading_worker.h"

#include <glog/logging.h>

#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/session/outcome.h"
#include "common/session/run_setup.h"

namespace paceline {

absl::StatusOr<int> RunLeadingWorker(LeaderOptions leader_options, bool resume,
                                     WorkerOptions worker_options,
                                     Interrupt& interrupt) {
  if (resume) {
    ASSIGN_OR_RETURN(
        leader_options.restore_path,
        FindLatestCheckpoint(leader_options.output_dir + "/checkpoint"));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Leader> leader,
                   Leader::Start(leader_options));
  // Only now: a leader that cannot start leaves what was there alone.
  RETURN_IF_ERROR(PrepareOutput(leader_options.output_dir, resume));
  // The leader in this process tells how the job ended.
  worker_options.member.on_stop = [](const absl::Status&) {};
  std::thread([worker_options] {
    const absl::Status status = RunWorker(worker_options);
    if (!status.ok()) LOG(ERROR) << status.message();
  }).detach();
  const Outcome outcome = leader->Run([&] {
    if (interrupt.Taken()) {
      leader->Stop(absl::CancelledError("stopped by a signal"));
    }
  });
  if (!outcome.status.ok()) LOG(ERROR) << outcome.status.message();
  RETURN_IF_ERROR(WriteOutcome(leader_options.output_dir, leader_options.job,
                               outcome,
                               [](TaskId) { return std::optional<int>(); }));
  return ExitCode(outcome);
}

}  // namespace paceline
