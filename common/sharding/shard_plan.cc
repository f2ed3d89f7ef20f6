#include "common/sharding/shard_plan.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "common/sharding/placement.h"
#include "common/tensor/shape.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Adds buckets for the variables that are trained, or for the others, in the
// order of backward: the last variable comes first. One that lies on several
// shards is a bucket of its own.
void AddBuckets(absl::Span<const VariableSpec> variables,
                const Placement& placement, int bytes_per_element,
                bool trainable, std::vector<Bucket>& buckets) {
  const int64_t target = limits::kBucketBytes / bytes_per_element;
  bool open = false;
  for (int v = static_cast<int>(variables.size()) - 1; v >= 0; --v) {
    if (variables[v].is_trained() != trainable) continue;
    const int64_t count = NumElements(variables[v].shape);
    const bool alone = placement[v].front().shard != placement[v].back().shard;
    if (!open || alone || buckets.back().count + count > target) {
      buckets.emplace_back().trainable = trainable;
    }
    buckets.back().count += count;
    buckets.back().variables.push_back(v);
    open = !alone;
  }
}

}  // namespace

absl::StatusOr<ShardPlan> ShardPlan::Make(
    absl::Span<const VariableSpec> variables, int shard_count,
    const v1::Partitioner& partitioner, int bytes_per_element) {
  CHECK(bytes_per_element == 4 || bytes_per_element == 8) << bytes_per_element;
  if (variables.empty()) {
    return absl::InvalidArgumentError("the model has no variables to train");
  }
  if (shard_count < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "there are ", shard_count, " shards; at least 1 is needed"));
  }
  ASSIGN_OR_RETURN(
      const Placement placement,
      PlaceVariables(variables, shard_count, partitioner, bytes_per_element));
  ShardPlan plan;
  plan.shard_count_ = shard_count;
  plan.places_.resize(variables.size());
  plan.blocks_.resize(shard_count);
  for (const bool trainable : {false, true}) {
    AddBuckets(variables, placement, bytes_per_element, trainable,
               plan.buckets_);
  }
  for (size_t b = 0; b < plan.buckets_.size(); ++b) {
    plan.LayOutBucket(static_cast<int>(b), placement);
  }
  return plan;
}

void ShardPlan::LayOutBucket(int bucket, const Placement& placement) {
  const int first_part = static_cast<int>(parts_.size());
  for (int v : buckets_[bucket].variables) {
    for (const PlacedRange& range : placement[v]) {
      parts_.push_back(
          {v, range.begin, range.count, range.shard, bucket, /*offset=*/0});
    }
  }
  std::stable_sort(
      parts_.begin() + first_part, parts_.end(),
      [](const Part& a, const Part& b) { return a.shard < b.shard; });

  int64_t offset = 0;
  int shard = -1;
  for (int p = first_part; p < static_cast<int>(parts_.size()); ++p) {
    Part& part = parts_[p];
    part.bucket_offset = offset;
    if (part.begin == 0) places_[part.variable] = {bucket, offset};
    if (part.shard != shard) {
      shard = part.shard;
      const int index = static_cast<int>(blocks_[shard].size());
      blocks_[shard].push_back({shard, index, bucket, offset, 0, {}});
    }
    Block& block = blocks_[shard].back();
    block.count += part.count;
    block.parts.push_back(p);
    offset += part.count;
  }
  element_count_ += offset;
}

}  // namespace paceline
