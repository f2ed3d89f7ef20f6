// The folder that holds the checkpoints of a job.
#ifndef PACELINE_COMMON_CHECKPOINT_CHECKPOINT_FOLDER_H_
#define PACELINE_COMMON_CHECKPOINT_CHECKPOINT_FOLDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

// Makes the folder for a checkpoint after `step` steps in `directory`, which is
// made too, and returns its path. It is new: no earlier checkpoint is written
// into.
absl::StatusOr<std::string> CreateCheckpointFolder(const std::string& directory,
                                                   int64_t step);

// InvalidArgument unless `name` is one that CreateCheckpointFolder gives to a
// folder: so it is one component of bounded length, of harmless characters.
absl::Status CheckCheckpointName(absl::string_view name);

// The path of the latest complete checkpoint in `directory`, or `directory`
// itself if it is a checkpoint. Folders without a manifest are passed over.
// NotFound if there is none. A manifest that cannot be used is an error, as
// ReadManifest has it: to go on from an older checkpoint is for the user to
// decide.
absl::StatusOr<std::string> FindLatestCheckpoint(const std::string& directory);

// The paths of all complete checkpoints in `directory`, the oldest first; none
// if there is no such folder.
absl::StatusOr<std::vector<std::string>> ListCheckpoints(
    const std::string& directory);

// Deletes all but the latest `keep` good checkpoints (at least 1), and what is
// older than those and not good. Good are those with a manifest that can be
// read and shard files of the right sizes; so the last good one always stays.
absl::Status DeleteOldCheckpoints(const std::string& directory, int keep);

// Deletes one, say one that could not be completed. Its manifest goes first, so
// that it is no checkpoint from the start. Of a link, only the link.
absl::Status DeleteCheckpoint(const std::string& folder);

}  // namespace paceline

#endif  // PACELINE_COMMON_CHECKPOINT_CHECKPOINT_FOLDER_H_
