// The layout of a state's variables and gradients in memory: one bucket after
// the other, each aligned for vector units. Frozen buckets come last and have
// no gradients.
#ifndef PACELINE_WORKER_DEVICE_BUCKET_MEMORY_H_
#define PACELINE_WORKER_DEVICE_BUCKET_MEMORY_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "common/sharding/bucket_layout.h"
#include "common/tensor/shape.h"
#include "glog/logging.h"

namespace paceline {

inline constexpr size_t kBucketAlignment = 64;

// Bytes of a bucket's values; and the same rounded up to where the next bucket
// begins.
inline size_t BucketBytes(const Bucket& bucket, DataType type) {
  return static_cast<size_t>(bucket.count) * SizeOf(type);
}
inline size_t BucketStride(const Bucket& bucket, DataType type) {
  return (BucketBytes(bucket, type) + kBucketAlignment - 1) / kBucketAlignment *
         kBucketAlignment;
}

// Bytes of all these buckets with their gaps; never 0.
inline size_t BucketsBytes(absl::Span<const Bucket> buckets, DataType type) {
  size_t size = 0;
  for (const Bucket& bucket : buckets) size += BucketStride(bucket, type);
  return std::max(size, kBucketAlignment);
}
inline size_t GradientBytes(const BucketLayout& layout, DataType type) {
  return BucketsBytes(layout.updated_buckets(), type);
}

// The buckets in `memory`, which must be aligned and have BucketsBytes.
inline std::vector<absl::Span<std::byte>> LayOutBuckets(
    absl::Span<const Bucket> buckets, DataType type,
    absl::Span<std::byte> memory) {
  CHECK_GE(memory.size(), BucketsBytes(buckets, type));
  std::vector<absl::Span<std::byte>> spans;
  size_t offset = 0;
  for (const Bucket& bucket : buckets) {
    spans.push_back(memory.subspan(offset, BucketBytes(bucket, type)));
    offset += BucketStride(bucket, type);
  }
  return spans;
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_BUCKET_MEMORY_H_
