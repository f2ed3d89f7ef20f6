// The layout of variables in memory and on shards: buckets, parts, blocks and
// chunks.
//
//  * A part is a variable, or a range of its rows along axis 0, on one shard.
//    PlaceVariables balances the parts' bytes over the shards.
//  * Buckets are the layout of variables at a worker (bucket_layout.h).
//  * A block is the part of a bucket that lies on one shard. It is contiguous
//    both at the worker and on the shard, so it is sent without a copy:
//
//   bucket 0                        bucket 1
//   | dense_1/kernel dense_1/bias | | dense/kernel                         |
//   |    block 0 of shard 0       | | block 1 of shard 0 | block 0 of shard 1
//
//  * A chunk is a group of blocks of one shard, of bounded size; larger blocks
//    are cut. Each call to a parameter server carries one chunk, so a call's
//    memory does not grow with the model. A variable that the optimizer must
//    update as a whole is never cut, and its chunk may exceed the bound.
//
// Frozen variables are in chunks of their own.
//
// The plan is a pure function of the job and the number of shards, so every
// process derives the same plan.
#ifndef PACELINE_COMMON_SHARDING_SHARD_PLAN_H_
#define PACELINE_COMMON_SHARDING_SHARD_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/variable.h"
#include "common/sharding/bucket_layout.h"
#include "common/sharding/placement.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Elements [begin, begin + count) of a variable, on one shard.
struct Part {
  int variable = 0;
  int64_t begin = 0;
  int64_t count = 0;
  int shard = 0;
  int bucket = 0;
  // The part's first element in its bucket.
  int64_t bucket_offset = 0;
  // The variable's VariableSpec::momentum.
  double momentum = 0;
};

struct Block {
  int shard = 0;
  // Index of the block in its chunk; Block.index in messages.
  int index = 0;
  int bucket = 0;
  // The block is elements [bucket_offset, bucket_offset + count) of the bucket.
  int64_t bucket_offset = 0;
  int64_t count = 0;
  // The block's parts in order: indices into ShardPlan::parts().
  std::vector<int> parts;
};

// Immutable; thread-safe.
class ShardPlan {
 public:
  // Blocks of a shard that travel in one call. Larger than
  // Partitioner.chunk_bytes only if it is a single row, or has a variable that
  // may not be cut.
  struct Chunk {
    // At least one, sorted by Block::index.
    std::vector<Block> blocks;
    // Elements in the chunk.
    int64_t count = 0;
    // Whether the chunk's variables are frozen: all are, or none.
    bool is_frozen = false;
  };

  // `variables`: in the order of the graph. `bytes_per_element`: 4 or 8.
  // InvalidArgument if there are no variables or no shards, if the partitioner
  // contradicts itself, or if there would be too many chunks.
  static absl::StatusOr<ShardPlan> Make(
      absl::Span<const VariableSpec> variables, int shard_count,
      const v1::Partitioner& partitioner, int bytes_per_element,
      const MayCut& may_cut = MayCutAll);

  int shard_count() const { return static_cast<int>(chunks_.size()); }
  // The layout of the buckets that the blocks belong to.
  const BucketLayout& layout() const { return layout_; }
  // By bucket; those of a bucket by shard.
  absl::Span<const Part> parts() const { return parts_; }
  // The chunks of a shard, the frozen ones last. May be empty.
  absl::Span<const Chunk> chunks(int shard) const { return chunks_[shard]; }
  VariableUpdate update_of(const Block& block) const {
    return layout_.buckets()[block.bucket].update;
  }
  bool is_trained(const Part& part) const {
    return layout_.buckets()[part.bucket].is_trained();
  }

 private:
  // Adds the parts and blocks of a bucket. `chunk_count` is the most elements
  // of a chunk.
  void PlaceBucket(int bucket, const Placement& placement, int64_t chunk_count);
  void AddToChunks(Block block, int64_t chunk_count);

  BucketLayout layout_;
  std::vector<Part> parts_;
  // By shard.
  std::vector<std::vector<Chunk>> chunks_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SHARDING_SHARD_PLAN_H_
