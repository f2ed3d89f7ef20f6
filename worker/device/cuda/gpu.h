// The thin interface to CUDA: all that the device asks of the driver and of
// NVIDIA's libraries.
//
// Behind it stands worker/device/cuda/plugin, a shared library of its own, the
// only code that includes CUDA's headers and links its libraries. Tests put a
// fake there, which proves the order of calls.
#ifndef PACELINE_WORKER_DEVICE_CUDA_GPU_H_
#define PACELINE_WORKER_DEVICE_CUDA_GPU_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "worker/device/cuda/kernels/image_windows.h"
#include "worker/device/cuda/kernels/kernel.h"
#include "worker/device/device_group.h"
#include "worker/device/stream.h"

namespace paceline::cuda {

// Memory of a GPU, or pinned memory of the host. Freed with the pointer, which
// its Gpu outlives.
using MemoryBlock = std::unique_ptr<std::byte, std::function<void(std::byte*)>>;

// What products and convolutions of float32 may do to what they multiply.
enum class MathMode {
  kFloat32,
  // Round it to TF32, which has 10 bits of fraction, for the tensor cores. Sums
  // stay float32.
  kTf32,
};

// How a GPU computes.
struct GpuOptions {
  MathMode math_mode = MathMode::kFloat32;
  // Only algorithms that give the same bits at each run.
  bool deterministic = false;
  // Algorithms of convolutions are measured, once a shape, else chosen by rule.
  bool autotune = false;
};

// What a convolution is planned for.
enum class Planning {
  // To be computed.
  kForUse,
  // To learn what it takes: nothing is measured for it.
  kForEstimate,
};

// A bias and column sums on a multiple of so many bytes need no pass of their
// own behind a product whose values are all float32.
inline constexpr int64_t kProductVectorAlignment = 16;

// result (rows, columns) = left (rows, inner) · right (inner, columns), in C
// order; a transposed operand lies with its dimensions swapped. Operands are of
// one type, the result of theirs or float32; sums are float32.
struct MatrixProduct {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t inner = 0;
  ConstValues left{};
  ConstValues right{};
  Values result{};
  bool left_is_transposed = false;
  bool right_is_transposed = false;
  // (columns), added to each row of the result; null: none.
  const float* bias = nullptr;
  // (columns): becomes the sums of the columns of `right`, the gradient of a
  // bias where the result is that of a kernel; null: is not wanted. Not with
  // `bias`.
  float* column_sums = nullptr;
};

// What of a convolution is computed from the rest.
enum class ConvolutionPass { kForward, kInputGradient, kKernelGradient };

// One pass of a convolution (not flipped, as in Keras), all in C order:
// images (batch, height, width, channels), outputs (batch, height, width,
// filters), and a kernel (filters, height, width, channels / groups), which is
// not Keras' order: its filters come last.
struct ConvolutionShape {
  ConvolutionPass pass = ConvolutionPass::kForward;
  int64_t batch = 0;
  // Padding behind an axis is what the last window needs.
  ImageWindows windows;
  int64_t filters = 0;
  // Divides channels and filters: group g of the filters reads group g of the
  // channels.
  int64_t groups = 1;
  // Of the forward: a bias (filters) is added, and the sum is rectified,
  // max(x, 0); NaN passes. The bias is float32.
  bool has_bias = false;
  bool has_relu = false;
  // Of images, kernel and outputs. Sums are float32.
  DataType type = DataType::kFloat32;

  friend auto operator<=>(const ConvolutionShape&,
                          const ConvolutionShape&) = default;
};

// What a pass works on, of the shape's type. It writes outputs, images or
// kernel, by which pass it is, and reads the other two.
struct ConvolutionBlocks {
  Values images{};
  Values kernel{};
  Values outputs{};
  // Where the shape has one.
  const float* bias = nullptr;
  // As large as the plan says; its content is of no interest before and after.
  std::byte* workspace = nullptr;
};

// A pass whose algorithm is chosen. Bound to its Gpu, which outlives it; it
// outlives the graphs that hold it. Used by one queue at a time.
class ConvolutionPlan {
 public:
  virtual ~ConvolutionPlan() = default;
  virtual int64_t workspace_bytes() const = 0;
};

// Work that was captured, to be launched at once. Bound to its Gpu.
class CapturedGraph {
 public:
  virtual ~CapturedGraph() = default;
};

// What a queue is for.
enum class QueueKind {
  kComputing,
  // Copies, zeros and events, and no more: so it takes no memory.
  kCopying,
};

// A stream of a GPU. What is enqueued returns at once, and reads its operands
// when its turn comes; an enqueue that fails shows in the next TakeError or
// Synchronize. Not thread-safe.
class Queue : public Stream {
 public:
  // Memory of the GPU or of the host, on either side. Memory of the host that
  // is not pinned is slow, and may be waited for.
  virtual void Copy(void* to, const void* from, int64_t size_bytes) = 0;
  virtual void Zero(void* to, int64_t size_bytes) = 0;
  virtual void Multiply(const MatrixProduct& product) = 0;
  virtual void Convolve(const ConvolutionPlan& plan,
                        const ConvolutionBlocks& blocks) = 0;
  // Calls the kernel's body with each of [0, count), in any order.
  virtual void ForEach(int64_t count, const Kernel& kernel) = 0;

  // Events of the same Gpu. WaitFor lets this queue wait, not the caller.
  virtual void Record(Event& event) = 0;
  virtual void WaitFor(Event& event) = 0;

  // What is enqueued between the two is not run but made a graph. All queues
  // that it draws in by events must have come back to this one by EndCapture.
  virtual void BeginCapture() = 0;
  virtual absl::StatusOr<std::unique_ptr<CapturedGraph>> EndCapture() = 0;
  virtual void Launch(CapturedGraph& graph) = 0;

  // The first error of an enqueue since the last call. Does not wait.
  virtual absl::Status TakeError() = 0;
};

// Of a whole GPU, whoever uses it.
struct GpuMemory {
  int64_t free_bytes = 0;
  int64_t total_bytes = 0;
};

// A GPU's end of a group of GPUs. All ranks make the same calls in the same
// order, for queues of their own.
class Communicator : public DeviceGroup {
 public:
  // Replaces `count` floats in the GPU's memory by their sums over the ranks,
  // the same bits on each. Errors show in status(), those of the sum at the
  // latest when it is done: before what is made of it is enqueued, and again
  // before that is used. Not captured: NCCL wants a sum in the graphs of all
  // ranks or of none, and they may differ in what they capture.
  virtual void AllReduce(float* values, int64_t count, Queue& queue) = 0;
};

// One GPU. Thread-safe.
class Gpu {
 public:
  virtual ~Gpu() = default;

  // "cuda:0".
  virtual std::string name() const = 0;

  virtual absl::StatusOr<GpuMemory> Memory() const = 0;
  // As Device has them.
  virtual std::string gpu_uuid() const = 0;
  virtual absl::StatusOr<std::string> NewNcclId() = 0;
  virtual absl::StatusOr<std::unique_ptr<Communicator>> JoinGroup(
      const DeviceGroupOptions& options) = 0;

  // Zeroed. ResourceExhausted says what was asked for `what`, and of the GPU's
  // memory what is free.
  virtual absl::StatusOr<MemoryBlock> Allocate(int64_t size_bytes,
                                               absl::string_view what) = 0;
  virtual absl::StatusOr<MemoryBlock> AllocatePinned(
      int64_t size_bytes, absl::string_view what) = 0;

  // Pins memory of the host that somebody else owns, for as long as the result
  // lives. Errors as above.
  virtual absl::StatusOr<MemoryBlock> Pin(absl::Span<std::byte> memory,
                                          absl::string_view what) = 0;

  // Chooses the algorithm. Blocks while it measures. Unimplemented if there is
  // none for the shape under the options of the GPU.
  virtual absl::StatusOr<std::unique_ptr<ConvolutionPlan>> PlanConvolution(
      const ConvolutionShape& shape, Planning planning) = 0;

  // One for kComputing takes memory of the GPU: ResourceExhausted as above.
  virtual absl::StatusOr<std::unique_ptr<Queue>> CreateQueue(
      QueueKind kind) = 0;
  virtual absl::StatusOr<std::unique_ptr<Event>> CreateEvent() = 0;
};

// Versions as CUDA counts them: 13000 is 13.0.
struct DriverReport {
  // The newest CUDA that the driver runs; 0 without a driver.
  int driver_version = 0;
  // The CUDA that this build was made with.
  int runtime_version = 0;
  // The oldest driver that runs it.
  int needed_version = 0;
  int gpu_count = 0;
};

class Driver {
 public:
  virtual ~Driver() = default;
  virtual DriverReport Report() const = 0;
  // `ordinal` is in [0, gpu_count). The Gpu stands on its own.
  virtual absl::StatusOr<std::unique_ptr<Gpu>> Open(
      int ordinal, const GpuOptions& options) = 0;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_GPU_H_
