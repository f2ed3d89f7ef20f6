// Batches on their way to the GPU.
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

// How the buffers of a program take turns.
struct BufferGroups {
  // Steps of a group, which are executed at once.
  int size = 1;
  int count = 1;
  int buffers() const { return size * count; }
};

// Where the device updates, one group is filled while the other is computed;
// else there is one buffer.
BufferGroups BufferGroupsOf(const ProgramSpec& spec);

// Bytes of a batch, of each of its arrays.
struct BatchSizes {
  std::vector<int64_t> features;
  std::vector<int64_t> labels;
};

// Buffers for batches of one size, each with pinned memory of the host and
// memory of the GPU: one is filled and copied, by a queue of its own, while
// steps read others. Not thread-safe.
class BatchBuffers {
 public:
  // Without buffers.
  BatchBuffers() = default;
  // Bytes that one takes on the GPU.
  static int64_t SizeBytes(const BatchSizes& sizes);

  // `gpu` outlives the buffers.
  static absl::StatusOr<BatchBuffers> Create(Gpu& gpu, int count,
                                             const BatchSizes& sizes);

  // Puts a batch into a buffer and enqueues its copy to the GPU, behind the
  // steps that read the buffer. Waits until its last copy is done.
  absl::Status Fill(int buffer, const Batch& batch, const StepValues& step,
                    Queue& copies);

  // Lets `queue` wait for the copy of a buffer; and tells that what `queue` has
  // so far is all that reads it.
  void BeginReading(int buffer, Queue& queue);
  void EndReading(int buffer, Queue& queue);

  // In the GPU's memory. Of the step, and of what the batch has for an input or
  // an output of the model.
  std::byte* step(int buffer) const { return buffers_[buffer].device.get(); }
  std::byte* features(int buffer, size_t input) const {
    return step(buffer) + features_[input].offset;
  }
  std::byte* labels(int buffer, size_t output) const {
    return step(buffer) + labels_[output].offset;
  }

 private:
  // Step values, labels and features lie together: one copy takes them all.
  struct Buffer {
    MemoryBlock host;
    MemoryBlock device;
    std::unique_ptr<Event> copied;
    std::unique_ptr<Event> read;
    bool was_filled = false;
    bool was_read = false;
  };

  // Where an array lies in a buffer.
  struct Range {
    int64_t offset = 0;
    int64_t size_bytes = 0;
  };

  explicit BatchBuffers(const BatchSizes& sizes);
  static void CopyTo(std::byte* buffer, const std::vector<HostTensor>& arrays,
                     const std::vector<Range>& ranges);

  std::vector<Range> labels_;
  std::vector<Range> features_;
  int64_t size_bytes_ = 0;
  std::vector<Buffer> buffers_;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_BATCH_BUFFERS_H_
