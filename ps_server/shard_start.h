// The state with which a shard starts.
#ifndef PACELINE_PS_SERVER_SHARD_START_H_
#define PACELINE_PS_SERVER_SHARD_START_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/read_fence.h"
#include "common/tensor/shape.h"
#include "paceline/v1/ps.pb.h"
#include "ps_server/shard_chunk.h"

namespace paceline {

struct ShardStart {
  std::vector<std::unique_ptr<ShardChunk>> chunks;
  // Of variables and slots.
  int64_t size_bytes = 0;
  // How many updates the variables have had.
  int64_t step = 0;
};

// The variables are those of the request's checkpoint, of the job's weights, or
// drawn from its seed. From a checkpoint come also slots, the step and what its
// chunks know of workers, unless the request says `variables_only`. `request`
// must have passed CheckInitialize; `type`: float32 or float64; `fence`: for
// what opens the job's files. Errors are those of ChunkVariables,
// CheckpointReader, OpenWeights and Aggregator::Restore. Blocks on the disk.
absl::StatusOr<ShardStart> MakeShardStart(const v1::InitializeRequest& request,
                                          DataType type,
                                          const ReadFence& fence);

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_SHARD_START_H_
