// Whether a job can resume from a checkpoint, beside what
// CheckpointReader::CheckFits checks.
#ifndef PACELINE_COMMON_SESSION_LEADER_RESUME_CHECKS_H_
#define PACELINE_COMMON_SESSION_LEADER_RESUME_CHECKS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/checkpoint/manifest_content.h"
#include "common/optimizer/optimizer.h"

namespace paceline {

// InvalidArgument if the checkpoint was written between two calls of the same
// update (gradient_accumulation.h), and the job's optimizer takes another
// number of calls: its mean would not be that of what is accumulated. Errors of
// MakeOptimizer if the checkpoint's optimizer is unusable.
absl::Status CheckAccumulation(const Manifest& restored,
                               const Optimizer& optimizer);

// InvalidArgument unless the checkpoint is of this phase of the job; "": of a
// job that has none.
absl::Status CheckPhase(const Manifest& restored, const std::string& phase);

// Reads the manifest of the checkpoint in `folder`. Errors, which name the
// folder, are those of ReadManifest, CheckPhase and CheckAccumulation; also
// DataLoss if the session was saved at another step than the variables, and
// ReadManifest's if the checkpoint of the best epoch, beside the folder, cannot
// be read. Blocks on the disk.
absl::StatusOr<Manifest> ReadResumable(const std::string& folder,
                                       const std::string& phase,
                                       const Optimizer& optimizer);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_RESUME_CHECKS_H_
