// Where the phases of a job leave their results. A phase that has ended well
// has a folder of its own with its last checkpoints and its result files, so
// the output folder always has those of the phase that runs, or of the last:
//
//   out/phases/head/{result.json, history.csv, checkpoint/}   finished
//   out/{checkpoint/}                                         under way
#ifndef PACELINE_COMMON_SESSION_LEADER_PHASE_FOLDERS_H_
#define PACELINE_COMMON_SESSION_LEADER_PHASE_FOLDERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// The folder of the phase `index` of the job.
std::string PhaseFolder(const std::string& output_dir, const v1::Job& job,
                        int index);

// The first phase that has not finished; the last one never counts as finished.
// A phase whose last checkpoint lacks shard files has not finished. An unusable
// manifest is an error.
absl::StatusOr<int> UnfinishedPhase(const std::string& output_dir,
                                    const v1::Job& job);

// Moves the results and checkpoints of the phase `index` into its folder. The
// checkpoints come last: until they are there, the phase has not finished.
absl::Status FinishPhase(const std::string& output_dir, const v1::Job& job,
                         int index);

// The latest checkpoint in the output folder that is of no phase before
// `index`. Such phases have folders of their own, but who brings the output
// folder to another machine may have been interrupted before what was moved is
// deleted. As FindLatestCheckpoint, it skips folders without a manifest, and an
// unusable manifest of the one it finds is an error; `output_dir` itself is no
// checkpoint here. NotFound if there is none.
absl::StatusOr<std::string> FindUnfinishedCheckpoint(
    const std::string& output_dir, const v1::Job& job, int index);

// Deletes the checkpoints that FindUnfinishedCheckpoint passes over.
absl::Status DeleteFinishedCheckpoints(const std::string& output_dir,
                                       const v1::Job& job, int index);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_PHASE_FOLDERS_H_
