#include "common/sharding/bucket_layout.h"

#include <algorithm>

#include "common/limits.h"
#include "common/tensor/shape.h"

namespace paceline {

BucketLayout::BucketLayout(absl::Span<const VariableSpec> variables,
                           const Placement& placement, int bytes_per_element)
    : variables_(variables.begin(), variables.end()),
      locations_(variables.size()) {
  const int64_t target_count = limits::kBucketBytes / bytes_per_element;
  AddBuckets(placement, target_count, VariableUpdate::kDelta);
  AddBuckets(placement, target_count, VariableUpdate::kGradient);
  updated_bucket_count_ = buckets_.size();
  AddBuckets(placement, target_count, VariableUpdate::kNone);
  for (size_t b = 0; b < buckets_.size(); ++b) {
    Locate(static_cast<int>(b), placement);
    element_count_ += buckets_[b].count;
  }
}

// In the order of backward: the last variable comes first. One that lies on
// several shards is a bucket of its own.
void BucketLayout::AddBuckets(const Placement& placement, int64_t target_count,
                              VariableUpdate update) {
  bool open = false;
  for (int v = static_cast<int>(variables_.size()) - 1; v >= 0; --v) {
    if (variables_[v].update != update) continue;
    const int64_t count = NumElements(variables_[v].shape);
    const bool alone = placement[v].front().shard != placement[v].back().shard;
    if (!open || alone || buckets_.back().count + count > target_count) {
      buckets_.emplace_back().update = update;
    }
    buckets_.back().count += count;
    buckets_.back().variables.push_back(v);
    open = !alone;
  }
}

void BucketLayout::Locate(int bucket, const Placement& placement) {
  std::vector<int> by_shard = buckets_[bucket].variables;
  std::stable_sort(by_shard.begin(), by_shard.end(), [&](int a, int b) {
    return placement[a].front().shard < placement[b].front().shard;
  });
  int64_t offset = 0;
  for (const int v : by_shard) {
    locations_[v] = {bucket, offset};
    offset += NumElements(variables_[v].shape);
  }
}

}  // namespace paceline
