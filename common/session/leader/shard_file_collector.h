// Brings the files of a checkpoint to the leader from servers that have folders
// of their own.
#ifndef PACELINE_COMMON_SESSION_LEADER_SHARD_FILE_COLLECTOR_H_
#define PACELINE_COMMON_SESSION_LEADER_SHARD_FILE_COLLECTOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/checkpoint/manifest_content.h"

namespace paceline {

// Reads the piece of the shard's file that begins at an offset, as in
// ReadCheckpoint of ps.proto. Blocks.
using ReadShardPiece = std::function<absl::StatusOr<std::string>(
    size_t shard, uint64_t offset_bytes)>;

// The shards whose files are not in `folder`.
std::vector<size_t> ShardsElsewhere(const std::string& folder,
                                    size_t shard_count);

// Writes the files of these shards into `folder`, each atomically. `files`: by
// shard, as the shards describe them. DataLoss names the file if its shard
// sends other bytes than it described. Never holds more than a piece in memory.
// Blocks.
absl::Status CollectShardFiles(const std::string& folder,
                               absl::Span<const size_t> shards,
                               absl::Span<const ShardFile> files,
                               const ReadShardPiece& read);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_SHARD_FILE_COLLECTOR_H_
