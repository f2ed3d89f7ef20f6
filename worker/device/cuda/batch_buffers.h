// Copies batches to the GPU while it computes.
#ifndef PACELINE_WORKER_DEVICE_CUDA_BATCH_BUFFERS_H_
#define PACELINE_WORKER_DEVICE_CUDA_BATCH_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/cuda/gpu.h"
#include "worker/device/cuda/kernels/step_values.h"
#include "worker/device/device.h"

namespace paceline::cuda {

// How a program divides its buffers into groups that take turns.
struct BufferGroups {
  // Steps per group, which are launched at once.
  int size = 1;
  int count = 1;
  int buffers() const { return size * count; }
};

// If the device updates, two groups: one is filled while the GPU computes the
// other. Otherwise a single buffer.
BufferGroups BufferGroupsOf(const ProgramSpec& spec);

// Bytes of each array of a batch.
struct BatchSizes {
  std::vector<int64_t> features;
  std::vector<int64_t> labels;
  std::vector<int64_t> weights;
};

// Buffers for batches of one size. Each buffer has pinned host memory and GPU
// memory. A queue of its own copies one buffer while steps read others. Not
// thread-safe.
class BatchBuffers {
 public:
  // An object without buffers.
  BatchBuffers() = default;
  // GPU memory of a buffer in bytes.
  static int64_t SizeBytes(const BatchSizes& sizes);

  // `gpu` must outlive the buffers.
  static absl::StatusOr<BatchBuffers> Create(Gpu& gpu, int count,
                                             const BatchSizes& sizes);

  // Writes a batch into a buffer and enqueues its copy to the GPU, after the
  // steps that read the buffer. Blocks until the buffer's previous copy is
  // done.
  absl::Status Fill(int buffer, const Batch& batch, const StepValues& step,
                    Queue& copies);

  // Lets `queue` wait for the copy of a buffer. EndReading declares that the
  // work in `queue` so far is all that reads the buffer.
  void BeginReading(int buffer, Queue& queue);
  void EndReading(int buffer, Queue& queue);

  // GPU addresses: of the step's values, and of the arrays for an input or
  // output of the model.
  std::byte* step(int buffer) const { return buffers_[buffer].device.get(); }
  std::byte* features(int buffer, size_t input) const {
    return step(buffer) + features_[input].offset;
  }
  std::byte* labels(int buffer, size_t output) const {
    return step(buffer) + labels_[output].offset;
  }
  std::byte* weights(int buffer, size_t output) const {
    return step(buffer) + weights_[output].offset;
  }

 private:
  // Step values, labels, weights and features are contiguous, so that one copy
  // moves them all.
  struct Buffer {
    MemoryBlock host;
    MemoryBlock device;
    std::unique_ptr<Event> copied;
    std::unique_ptr<Event> read;
    bool was_filled = false;
    bool was_read = false;
  };

  // The location of an array in a buffer.
  struct Range {
    int64_t offset = 0;
    int64_t size_bytes = 0;
  };

  explicit BatchBuffers(const BatchSizes& sizes);
  static void CopyTo(std::byte* buffer, const std::vector<HostTensor>& arrays,
                     const std::vector<Range>& ranges);

  std::vector<Range> labels_;
  std::vector<Range> weights_;
  std::vector<Range> features_;
  int64_t size_bytes_ = 0;
  std::vector<Buffer> buffers_;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_BATCH_BUFFERS_H_
