#include "common/sharding/shard_plan.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "glog/logging.h"

namespace paceline {
namespace {

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
  plan.layout_ = BucketLayout(variables, placement, bytes_per_element);
  plan.chunks_.resize(shard_count);
  for (size_t b = 0; b < plan.layout_.buckets().size(); ++b) {
    plan.PlaceBucket(static_cast<int>(b), placement, chunk_count);
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

void ShardPlan::PlaceBucket(int bucket, const Placement& placement,
                            int64_t chunk_count) {
  const int first_part = static_cast<int>(parts_.size());
  for (const int v : layout_.buckets()[bucket].variables) {
    const int64_t offset = layout_.location(v).offset;
    for (const PlacedRange& range : placement[v]) {
      parts_.push_back({v, range.begin, range.count, range.shard, bucket,
                        offset + range.begin, layout_.variables()[v].momentum});
    }
  }
  // This order of the parts is that of BucketLayout::Locate. So the parts of a
  // shard follow each other in the bucket, and a block of them is contiguous.
  std::stable_sort(
      parts_.begin() + first_part, parts_.end(),
      [](const Part& a, const Part& b) { return a.shard < b.shard; });

  std::vector<Block> blocks;
  for (int p = first_part; p < static_cast<int>(parts_.size()); ++p) {
    const Part& part = parts_[p];
    if (blocks.empty() || blocks.back().shard != part.shard ||
        blocks.back().count + part.count > chunk_count) {
      blocks.push_back({part.shard,
                        /*index=*/0,
                        bucket,
                        part.bucket_offset,
                        /*count=*/0,
                        {}});
    }
    blocks.back().count += part.count;
    blocks.back().parts.push_back(p);
  }
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
