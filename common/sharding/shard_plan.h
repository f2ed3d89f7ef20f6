// How variables lie in memory and on shards: buckets, parts and blocks.
//
// Variables are cut into parts (whole variables, or ranges of rows along axis
// 0) that are placed on shards by their bytes. For the worker, variables are
// laid out in contiguous buckets, in the order in which backward finishes them,
// so that a bucket can leave while backward goes on. A block is a bucket's part
// on one shard, contiguous at the worker and on the shard, so that it is sent
// as it is:
//
//   bucket 0                        bucket 1
//   | dense_1/kernel dense_1/bias | | dense/kernel                         |
//   |    block 0 of shard 0       | | block 1 of shard 0 | block 0 of shard 1
//
// A shard's blocks are grouped into chunks of bounded size, and blocks that are
// larger cut: a call to a parameter server carries one chunk, so what it takes
// in memory does not grow with the model. A variable that the optimizer updates
// as a whole is not cut, and its chunk is as large.
//
// Statistics, which may be final as soon as forward is, lie in buckets of their
// own, before all others; so do frozen variables, which have no gradients,
// behind all others and in chunks of their own. Within a bucket the parts are
// ordered by shard. A variable that is cut over shards is a bucket of its own,
// since its parts must stay together for the kernels. Every process derives the
// plan from the job and the number of shards.
#ifndef PACELINE_COMMON_SHARDING_SHARD_PLAN_H_
#define PACELINE_COMMON_SHARDING_SHARD_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/variable.h"
#include "common/sharding/placement.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Elements [begin, begin + count) of a variable, all on one shard.
struct Part {
  int variable = 0;
  int64_t begin = 0;
  int64_t count = 0;
  int shard = 0;
  int bucket = 0;
  // Where the part starts in its bucket, in elements.
  int64_t bucket_offset = 0;
  // VariableSpec::momentum.
  double momentum = 0;
};

struct Bucket {
  // Elements.
  int64_t count = 0;
  // Variables in it, by index.
  std::vector<int> variables;
  // What a step does to them all.
  VariableUpdate update = VariableUpdate::kGradient;

  bool is_trained() const { return update == VariableUpdate::kGradient; }
};

struct Block {
  int shard = 0;
  // Index among the blocks of its chunk: what the wire calls Block.index.
  int index = 0;
  int bucket = 0;
  // Elements [bucket_offset, bucket_offset + count) of the bucket.
  int64_t bucket_offset = 0;
  int64_t count = 0;
  // Its parts in order, by index in ShardPlan::parts().
  std::vector<int> parts;
};

// Where a variable lies at the worker.
struct VariableLocation {
  int bucket = 0;
  // In elements.
  int64_t offset = 0;
};

// Immutable; thread-safe.
class ShardPlan {
 public:
  // Blocks of a shard that travel together. Larger than Partitioner.chunk_bytes
  // only where a single row is, or a variable that may not be cut.
  struct Chunk {
    // At least one, by Block::index.
    std::vector<Block> blocks;
    // Elements.
    int64_t count = 0;
    // All its variables, or none.
    bool is_frozen = false;
  };

  // `variables` in the order of the graph; `bytes_per_element` is 4 or 8.
  // InvalidArgument if there are no variables, or no shard, or if the
  // partitioner contradicts itself or asks for too many chunks.
  static absl::StatusOr<ShardPlan> Make(
      absl::Span<const VariableSpec> variables, int shard_count,
      const v1::Partitioner& partitioner, int bytes_per_element,
      const MayCut& may_cut = MayCutAll);

  int shard_count() const { return shard_count_; }
  absl::Span<const Bucket> buckets() const { return buckets_; }
  // Those that a step updates, in the order in which backward finishes them:
  // the first of all. The others are frozen.
  absl::Span<const Bucket> updated_buckets() const {
    return buckets().first(updated_bucket_count_);
  }
  absl::Span<const Part> parts() const { return parts_; }
  // In the order of the graph.
  absl::Span<const VariableSpec> variables() const { return variables_; }
  // The chunks of a shard, the frozen ones last. May be empty.
  absl::Span<const Chunk> chunks(int shard) const { return chunks_[shard]; }
  VariableLocation location(int variable) const { return locations_[variable]; }
  VariableUpdate update_of(const Block& block) const {
    return buckets_[block.bucket].update;
  }
  bool is_trained(const Part& part) const {
    return buckets_[part.bucket].is_trained();
  }
  // Elements of all variables.
  int64_t element_count() const { return element_count_; }

 private:
  // Adds the parts, blocks and locations of a bucket. `chunk_count` is the most
  // elements of a chunk.
  void LayOutBucket(int bucket, absl::Span<const VariableSpec> variables,
                    const Placement& placement, int64_t chunk_count);
  void AddToChunks(Block block, int64_t chunk_count);

  int shard_count_ = 0;
  int64_t element_count_ = 0;
  std::vector<VariableSpec> variables_;
  std::vector<Bucket> buckets_;
  size_t updated_bucket_count_ = 0;
  std::vector<Part> parts_;
  // By shard.
  std::vector<std::vector<Chunk>> chunks_;
  std::vector<VariableLocation> locations_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SHARDING_SHARD_PLAN_H_
