// From a job and its cluster to what a leader needs.
#ifndef PACELINE_COMMON_SESSION_RUN_SETUP_H_
#define PACELINE_COMMON_SESSION_RUN_SETUP_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/cluster/tf_config.h"
#include "common/session/session.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// As many tasks as the job's `cluster` says, at addresses they will tell. For
// an evaluation, workers alone.
std::vector<ExpectedTask> LocalTasks(const v1::Job& job, bool evaluate);

// The tasks of a cluster started by hand, but for the leader's own coordinating
// part; sets the job's `cluster` to their numbers. InvalidArgument if this task
// does not lead, or the cluster does not fit the strategy; Unimplemented for
// clusters whose members are not all listed.
absl::StatusOr<std::vector<ExpectedTask>> TasksOf(const TfConfig& config,
                                                  v1::Job& job);

// The address to listen on for a task of `cluster` that others reach at
// `address`: all interfaces, its port; only that address where the whole
// cluster is on loopback, since nobody else is to reach it then.
std::string ListenAddress(const ClusterSpec& cluster,
                          const std::string& address);

// What an earlier run left in the output folder would be mistaken for this
// one's: its result.json is deleted, and, unless this run `resumes` it, its
// evaluator.csv is too and its checkpoints are moved aside, to
// checkpoint.previous, whose own are deleted; `messages` gets a line for each.
absl::Status PrepareOutput(const std::string& output_dir, bool resumes,
                           std::ostream& messages);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_RUN_SETUP_H_
