// How the gradients of a state lie in host memory: bucket after bucket, each
// aligned for vector units.
#ifndef PACELINE_WORKER_DEVICE_GRADIENT_MEMORY_H_
#define PACELINE_WORKER_DEVICE_GRADIENT_MEMORY_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "common/sharding/shard_plan.h"
#include "common/tensor/shape.h"
#include "glog/logging.h"

namespace paceline {

inline constexpr size_t kGradientAlignment = 64;

// Bytes of a bucket's values, and of the memory up to where the next begins.
inline size_t BucketBytes(const Bucket& bucket, DataType type) {
  return static_cast<size_t>(bucket.count) * SizeOf(type);
}
inline size_t BucketStride(const Bucket& bucket, DataType type) {
  return (BucketBytes(bucket, type) + kGradientAlignment - 1) /
         kGradientAlignment * kGradientAlignment;
}

// Bytes of all buckets.
inline size_t GradientBytes(const ShardPlan& plan, DataType type) {
  size_t size = 0;
  for (const Bucket& bucket : plan.buckets()) {
    size += BucketStride(bucket, type);
  }
  return size;
}

// The buckets in `memory` of GradientBytes, which starts on an alignment.
inline std::vector<absl::Span<std::byte>> LayOutGradients(
    const ShardPlan& plan, DataType type, absl::Span<std::byte> memory) {
  CHECK_GE(memory.size(), GradientBytes(plan, type));
  std::vector<absl::Span<std::byte>> buckets;
  size_t offset = 0;
  for (const Bucket& bucket : plan.buckets()) {
    buckets.push_back(memory.subspan(offset, BucketBytes(bucket, type)));
    offset += BucketStride(bucket, type);
  }
  return buckets;
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_GRADIENT_MEMORY_H_
