// A model's variables, gradients and metric sums in host memory, and the arena
// for the tensors of its programs.
#ifndef PACELINE_WORKER_DEVICE_CPU_CPU_STATE_H_
#define PACELINE_WORKER_DEVICE_CPU_CPU_STATE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/sharding/bucket_layout.h"
#include "worker/device/device.h"

namespace paceline {

// Zeroed, page-aligned memory.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(int64_t size_bytes);

  std::byte* data() const { return data_.get(); }
  int64_t size_bytes() const { return size_bytes_; }
  absl::Span<std::byte> span() const {
    return {data_.get(), static_cast<size_t>(size_bytes_)};
  }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  int64_t size_bytes_ = 0;
};

class CpuState final : public ModelState {
 public:
  // `gradient_memory`: see ProgramSpec.
  CpuState(const BucketLayout& layout, size_t metric_state_size,
           absl::Span<std::byte> gradient_memory);

  DataType type() const override { return DataType::kFloat32; }
  absl::Span<std::byte> host_variables(int bucket) override {
    return variables_[bucket].span();
  }
  absl::Span<std::byte> host_gradients(int bucket) override {
    return gradients_[bucket];
  }

  // Programs use host memory directly, so there is nothing to copy.
  absl::Status UploadVariables(int /*bucket*/, Stream& /*stream*/) override {
    return absl::OkStatus();
  }

  absl::Status TakeMetrics(Stream& stream, MetricSums& sums) override;

  // Programs add the states of loss and metrics here.
  MetricSums& metrics() { return metrics_; }

  // Makes the arena at least this large. Its content may be lost.
  void ReserveArena(int64_t size_bytes);
  // Changes only when ReserveArena needs a larger arena.
  std::byte* arena() const { return arena_.data(); }
  // The largest size that a program reserved.
  int64_t arena_size_bytes() const { return arena_.size_bytes(); }

 private:
  std::vector<AlignedBuffer> variables_;
  AlignedBuffer own_gradients_;
  std::vector<absl::Span<std::byte>> gradients_;
  AlignedBuffer arena_;
  MetricSums metrics_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_CPU_CPU_STATE_H_
