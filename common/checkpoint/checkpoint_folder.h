// The folder with a job's checkpoints.
#ifndef PACELINE_COMMON_CHECKPOINT_CHECKPOINT_FOLDER_H_
#define PACELINE_COMMON_CHECKPOINT_CHECKPOINT_FOLDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

// Creates a folder for the checkpoint after `step` steps in `directory`, which
// is created if needed, and returns its path. The folder is always new, so no
// earlier checkpoint is overwritten.
absl::StatusOr<std::string> CreateCheckpointFolder(const std::string& directory,
                                                   int64_t step);

// InvalidArgument unless `name` is a name that CreateCheckpointFolder gives to
// a folder, so it is a single path component of bounded length without special
// characters.
absl::Status CheckCheckpointName(absl::string_view name);

// The path of the latest complete checkpoint in `directory`, or `directory`
// itself if it is a checkpoint. Skips folders without a manifest. NotFound if
// there is none, InvalidArgument if `directory` is a file. An unusable manifest
// is an error (see ReadManifest), since only the user may decide to resume from
// an older checkpoint.
absl::StatusOr<std::string> FindLatestCheckpoint(const std::string& directory);

// The paths of all complete checkpoints in `directory`, the oldest first; none
// if the folder does not exist.
absl::StatusOr<std::vector<std::string>> ListCheckpoints(
    const std::string& directory);

// Whether the manifest of a checkpoint can be read and its shard files have the
// right sizes.
bool IsGoodCheckpoint(const std::string& folder);

// Deletes all but the latest `keep` good checkpoints (at least 1), and all bad
// ones that are older. So the last good checkpoint is never deleted. Nor is one
// whose variables those that stay need (Manifest::kept).
absl::Status DeleteOldCheckpoints(const std::string& directory, int keep);

// Deletes a checkpoint, such as one that could not be completed. Deletes the
// manifest first, so that the rest is not taken for a checkpoint. If `folder`
// is a link, deletes only the link.
absl::Status DeleteCheckpoint(const std::string& folder);

}  // namespace paceline

#endif  // PACELINE_COMMON_CHECKPOINT_CHECKPOINT_FOLDER_H_
