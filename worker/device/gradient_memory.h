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

// Bytes of all buckets.
inline size_t GradientBytes(const ShardPlan& plan, DataType type) {
  size_t size = 0;
  for (const Bucket& bucket : plan.buckets()) {
    const size_t bytes = static_cast<size_t>(bucket.count) * SizeOf(type);
    size += (bytes + kGradientAlignment - 1) / kGradientAlignment *
            kGradientAlignment;
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
    const size_t bytes = static_cast<size_t>(bucket.count) * SizeOf(type);
    buckets.push_back(memory.subspan(offset, bytes));
    offset += (bytes + kGradientAlignment - 1) / kGradientAlignment *
              kGradientAlignment;
  }
  return buckets;
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_GRADIENT_MEMORY_H_
