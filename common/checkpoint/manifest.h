// The manifest of a checkpoint, which lists its content. FORMAT.md describes
// the keys. All functions block on the disk.
#ifndef PACELINE_COMMON_CHECKPOINT_MANIFEST_H_
#define PACELINE_COMMON_CHECKPOINT_MANIFEST_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/checkpoint/manifest_content.h"

namespace paceline {

// Completes a checkpoint: checks that the shards' files are in `folder` with
// the right sizes, then writes manifest.json. NotFound or DataLoss names a
// missing or wrong file, for instance if `folder` is not on a shared file
// system. ResourceExhausted if the manifest would be too large for readers.
absl::Status WriteManifest(const std::string& folder, const Manifest& manifest);

// NotFound if the folder has no manifest; DataLoss or Unimplemented if it is
// unusable, with its path and the key.
absl::StatusOr<Manifest> ReadManifest(const std::string& folder);

}  // namespace paceline

#endif  // PACELINE_COMMON_CHECKPOINT_MANIFEST_H_
