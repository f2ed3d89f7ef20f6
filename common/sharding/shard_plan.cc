#include "common/sharding/shard_plan.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "common/sharding/placement.h"
#include "common/tensor/shape.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Adds buckets for the variables with this kind of update, the last variable
// first, since backward reaches it first. A variable on several shards is a
// bucket of its own.
void AddBuckets(absl::Span<const VariableSpec> variables,
                const Placement& placement, int bytes_per_element,
                VariableUpdate update, std::vector<Bucket>& buckets) {
  const int64_t target = limits::kBucketBytes / bytes_per_element;
  bool open = false;
  for (int v = static_cast<int>(variables.size()) - 1; v >= 0; --v) {
    if (variables[v].update != update) continue;
    const int64_t count = NumElements(variables[v].shape);
    const bool alone = placement[v].front().shard != placement[v].back().shard;
    if (!open || alone || buckets.back().count + count > target) {
      buckets.emplace_back().update = update;
    }
    buckets.back().count += count;
    buckets.back().variables.push_back(v);
    open = !alone;
  }
}

int64_t ChunkBytes(const v1::Partitioner& partitioner) {
  if (partitioner.chunk_bytes() == 0) return limits::kChunkBytes;
  return static_cast<int64_t>(
      std::min<uint64_t>(partitioner.chunk_bytes(), limits::kMaxChunkBytes));
}

}  // namespace

absl::StatusOr<ShardPlan> ShardPlan::Make(
    absl::Span<const VariableSpec> variables, int shard_count,
    const v1::Partitioner& partitioner, int bytes_per_element,
    const MayCut& may_cut) {
  CHECK(bytes_per_element == 4 || bytes_per_element == 8) << bytes_per_element;
  if (variables.empty()) {
    return absl::InvalidArgumentError("the model has no variables to train");
  }
  if (shard_count < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "there are ", shard_count, " shards; at least 1 is needed"));
  }
  ASSIGN_OR_RETURN(Placement placement,
                   PlaceVariables(variables, shard_count, partitioner,
                                  bytes_per_element, may_cut));
  const int64_t chunk_count =
      std::max<int64_t>(1, ChunkBytes(partitioner) / bytes_per_element);
  RETURN_IF_ERROR(CutRanges(variables, chunk_count, may_cut, placement));
  ShardPlan plan;
  plan.shard_count_ = shard_count;
  plan.variables_ = {variables.begin(), variables.end()};
  plan.locations_.resize(variables.size());
  plan.chunks_.resize(shard_count);
  const auto add_buckets = [&](VariableUpdate update) {
    AddBuckets(variables, placement, bytes_per_element, update, plan.buckets_);
  };
  add_buckets(VariableUpdate::kDelta);
  add_buckets(VariableUpdate::kGradient);
  plan.updated_bucket_count_ = plan.buckets_.size();
  add_buckets(VariableUpdate::kNone);
  for (size_t b = 0; b < plan.buckets_.size(); ++b) {
    plan.LayOutBucket(static_cast<int>(b), variables, placement, chunk_count);
  }
  for (const std::vector<Chunk>& chunks : plan.chunks_) {
    const auto count = static_cast<int64_t>(chunks.size());
    if (count <= limits::kMaxChunks) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("partitioner.chunk_bytes ", ChunkBytes(partitioner),
                     " cuts a shard into ", count, " chunks; expected at most ",
                     limits::kMaxChunks));
  }
  return plan;
}

void ShardPlan::LayOutBucket(int bucket,
                             absl::Span<const VariableSpec> variables,
                             const Placement& placement, int64_t chunk_count) {
  const int first_part = static_cast<int>(parts_.size());
  for (int v : buckets_[bucket].variables) {
    for (const PlacedRange& range : placement[v]) {
      parts_.push_back({v, range.begin, range.count, range.shard, bucket,
                        /*offset=*/0, variables[v].momentum});
    }
  }
  std::stable_sort(
      parts_.begin() + first_part, parts_.end(),
      [](const Part& a, const Part& b) { return a.shard < b.shard; });

  std::vector<Block> blocks;
  int64_t offset = 0;
  for (int p = first_part; p < static_cast<int>(parts_.size()); ++p) {
    Part& part = parts_[p];
    part.bucket_offset = offset;
    if (part.begin == 0) locations_[part.variable] = {bucket, offset};
    if (blocks.empty() || blocks.back().shard != part.shard ||
        blocks.back().count + part.count > chunk_count) {
      blocks.push_back({part.shard, /*index=*/0, bucket, offset, 0, {}});
    }
    blocks.back().count += part.count;
    blocks.back().parts.push_back(p);
    offset += part.count;
  }
  element_count_ += offset;
  for (Block& block : blocks) AddToChunks(std::move(block), chunk_count);
}

void ShardPlan::AddToChunks(Block block, int64_t chunk_count) {
  std::vector<Chunk>& chunks = chunks_[block.shard];
  const bool is_frozen = update_of(block) == VariableUpdate::kNone;
  if (chunks.empty() || chunks.back().is_frozen != is_frozen ||
      chunks.back().count + block.count > chunk_count) {
    chunks.emplace_back().is_frozen = is_frozen;
  }
  Chunk& chunk = chunks.back();
  chunk.count += block.count;
  block.index = static_cast<int>(chunk.blocks.size());
  chunk.blocks.push_back(std::move(block));
}

}  // namespace paceline
