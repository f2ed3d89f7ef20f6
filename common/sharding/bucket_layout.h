// The layout of variables in a worker's memory: buckets.
//
// A bucket is a contiguous buffer with one or more variables. Buckets are
// ordered as backward completes them, so that a worker can send a bucket while
// backward computes the next one. DistributedDataParallel of PyTorch (Li et
// al., VLDB 2020) orders its buckets the same way:
//
//   bucket 0                        bucket 1
//   | dense_1/kernel dense_1/bias | | dense/kernel                         |
//
// Statistics (moving means and variances) are in buckets of their own before
// all others, since they may be final after forward. Frozen variables, which
// have no gradients, are in buckets of their own after all others. Within a
// bucket the variables are sorted by shard. A variable that is cut over several
// shards is a bucket of its own, since kernels need its parts to be contiguous.
#ifndef PACELINE_COMMON_SHARDING_BUCKET_LAYOUT_H_
#define PACELINE_COMMON_SHARDING_BUCKET_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/model/variable.h"
#include "common/sharding/placement.h"

namespace paceline {

struct Bucket {
  // Elements in the bucket.
  int64_t count = 0;
  // Indices of the variables in the bucket.
  std::vector<int> variables;
  // What a step does to all these variables.
  VariableUpdate update = VariableUpdate::kGradient;

  bool is_trained() const { return update == VariableUpdate::kGradient; }
};

// The location of a variable in the worker's buckets.
struct VariableLocation {
  int bucket = 0;
  // In elements.
  int64_t offset = 0;
};

// Immutable; thread-safe.
class BucketLayout {
 public:
  // Without variables.
  BucketLayout() = default;
  // `variables` in the order of the graph, with their `placement`.
  BucketLayout(absl::Span<const VariableSpec> variables,
               const Placement& placement, int bytes_per_element);

  absl::Span<const Bucket> buckets() const { return buckets_; }
  // Those that a step updates, in the order in which backward finishes them:
  // the first of all. The others are frozen.
  absl::Span<const Bucket> updated_buckets() const {
    return buckets().first(updated_bucket_count_);
  }
  // In the order of the graph.
  absl::Span<const VariableSpec> variables() const { return variables_; }
  VariableLocation location(int variable) const { return locations_[variable]; }
  // Elements of all variables.
  int64_t element_count() const { return element_count_; }

 private:
  // Adds buckets for the variables with this update.
  void AddBuckets(const Placement& placement, int64_t target_count,
                  VariableUpdate update);
  // Gives the variables of a bucket their locations.
  void Locate(int bucket, const Placement& placement);

  int64_t element_count_ = 0;
  std::vector<VariableSpec> variables_;
  std::vector<Bucket> buckets_;
  size_t updated_bucket_count_ = 0;
  std::vector<VariableLocation> locations_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SHARDING_BUCKET_LAYOUT_H_
