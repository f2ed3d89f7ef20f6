// Turns a job and its cluster into the options of a leader.
#ifndef PACELINE_COMMON_SESSION_LEADER_RUN_SETUP_H_
#define PACELINE_COMMON_SESSION_LEADER_RUN_SETUP_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/cluster/tf_config.h"
#include "common/session/machine/session.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// The tasks of a local cluster: as many as the job's `cluster` says, at
// addresses that they report when they register. For an evaluation, only
// workers.
std::vector<ExpectedTask> LocalTasks(const v1::Job& job, bool evaluate);

// The tasks of a cluster started by hand, without a chief that only
// coordinates. Sets the job's `cluster` to their numbers. InvalidArgument if
// this task does not lead or the cluster does not fit the strategy;
// Unimplemented if TF_CONFIG does not list all members.
absl::StatusOr<std::vector<ExpectedTask>> TasksOf(const TfConfig& config,
                                                  v1::Job& job);

// Removes what an earlier run left in the output folder and users could take
// for this run's: deletes result.json and, unless this run `resumes` the
// earlier one, deletes evaluator.csv and moves its checkpoints to
// checkpoint.previous, and its finished phases to phases.previous, replacing
// what is there. Writes a line to `messages` for each.
absl::Status PrepareOutput(const std::string& output_dir, bool resumes,
                           std::ostream& messages);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_RUN_SETUP_H_
