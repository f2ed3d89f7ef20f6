#include "worker/device/cpu/cpu_state.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "absl/status/status.h"
#include "glog/logging.h"
#include "worker/device/bucket_memory.h"

namespace paceline {
namespace {

constexpr int64_t kPageBytes = 4096;

}  // namespace

AlignedBuffer::AlignedBuffer(int64_t size_bytes) : size_bytes_(size_bytes) {
  const int64_t page_count =
      std::max<int64_t>(1, (size_bytes + kPageBytes - 1) / kPageBytes);
  void* data = std::aligned_alloc(kPageBytes, page_count * kPageBytes);
  CHECK(data != nullptr) << "no memory for " << size_bytes << " bytes";
  std::memset(data, 0, page_count * kPageBytes);
  data_.reset(static_cast<std::byte*>(data));
}

void AlignedBuffer::Free::operator()(std::byte* data) const { std::free(data); }

CpuState::CpuState(const BucketLayout& layout, size_t metric_state_size,
                   absl::Span<std::byte> gradient_memory) {
  for (const Bucket& bucket : layout.buckets()) {
    variables_.emplace_back(bucket.count * static_cast<int64_t>(sizeof(float)));
  }
  if (gradient_memory.empty()) {
    own_gradients_ = AlignedBuffer(
        static_cast<int64_t>(GradientBytes(layout, DataType::kFloat32)));
    gradient_memory = own_gradients_.span();
  }
  gradients_ = LayOutBuckets(layout.updated_buckets(), DataType::kFloat32,
                             gradient_memory);
  metrics_.states.resize(metric_state_size);
}

absl::Status CpuState::TakeMetrics(Stream& /*stream*/, MetricSums& sums) {
  sums.Add(metrics_);
  metrics_.Reset();
  return absl::OkStatus();
}

void CpuState::ReserveArena(int64_t size_bytes) {
  if (size_bytes <= arena_.size_bytes()) return;
  arena_ = AlignedBuffer();
  arena_ = AlignedBuffer(size_bytes);
}

}  // namespace paceline
