// The thin interface to CUDA: everything that the device needs of the driver
// and NVIDIA's libraries.
//
// worker/device/cuda/plugin implements it, in a separate shared library, the
// only code that includes CUDA's headers and links its libraries. Tests use a
// fake implementation, which checks the order of calls.
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

// Memory of a GPU, or pinned host memory. Freed by the pointer's deleter; its
// Gpu must outlive it.
using MemoryBlock = std::unique_ptr<std::byte, std::function<void(std::byte*)>>;

// How matrix products and convolutions may treat float32 operands.
enum class MathMode {
  kFloat32,
  // May round operands to TF32, which has 10 bits of mantissa, for the tensor
  // cores. Accumulates in float32.
  kTf32,
};

// Options of a GPU.
struct GpuOptions {
  MathMode math_mode = MathMode::kFloat32;
  // Use only algorithms that give the same bits in each run.
  bool deterministic = false;
  // Measure convolution algorithms, once per shape, instead of using cuDNN's
  // heuristics.
  bool autotune = false;
};

// The purpose of a convolution plan.
enum class Planning {
  // To be computed.
  kForUse,
  // Only to learn its workspace size; nothing is measured.
  kForEstimate,
};

// Column sums with this alignment can be fused into a product whose values are
// all float32, and a bias into one whose values all have its type.
inline constexpr int64_t kProductVectorAlignment = 16;

// result (rows, columns) = left (rows, inner) · right (inner, columns), in C
// order; a transposed operand is stored with its dimensions swapped. Both
// operands have the same type; the result has that type or float32;
// accumulation is in float32. Of `count` such products, whose operands and
// results lie one behind the other, none has a bias or column sums.
struct MatrixProduct {
  int64_t count = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t inner = 0;
  ConstValues left{};
  ConstValues right{};
  Values result{};
  bool left_is_transposed = false;
  bool right_is_transposed = false;
  // Shape (columns); added to each row of the result. Null: none.
  ConstValues bias{};
  // Shape (columns); set to the sums of the columns of `right`. This is the
  // gradient of a bias, if the result is the gradient of a kernel. Null: not
  // wanted. Cannot be combined with `bias`.
  float* column_sums = nullptr;
};

// Which tensor of a convolution is computed from the other two.
enum class ConvolutionPass { kForward, kInputGradient, kKernelGradient };

// One pass of a convolution (a cross-correlation, as in Keras). All tensors are
// in C order: images (batch, height, width, channels), outputs (batch, height,
// width, filters), kernel (filters, height, width, channels / groups). This
// kernel order, OHWI, is cuDNN's; Keras has the filters last.
struct ConvolutionShape {
  ConvolutionPass pass = ConvolutionPass::kForward;
  int64_t batch = 0;
  // The padding at the end of an axis follows from the last window.
  ImageWindows windows;
  int64_t filters = 0;
  // Divides channels and filters: group g of the filters reads group g of the
  // channels.
  int64_t groups = 1;
  // In forward: adds a float32 bias (filters), then applies max(x, 0), in which
  // NaN stays NaN.
  bool has_bias = false;
  bool has_relu = false;
  // The type of images, kernel and outputs. Accumulates in float32.
  DataType type = DataType::kFloat32;

  friend auto operator<=>(const ConvolutionShape&,
                          const ConvolutionShape&) = default;
};

// The tensors of a pass, in the shape's type. kForward writes the outputs,
// kInputGradient the images, kKernelGradient the kernel; each pass reads the
// other two.
struct ConvolutionBlocks {
  Values images{};
  Values kernel{};
  Values outputs{};
  // Set if the shape has a bias.
  const float* bias = nullptr;
  // Scratch memory of the size that the plan requires.
  std::byte* workspace = nullptr;
};

// A pass with a chosen algorithm. Bound to its Gpu, which must outlive it; it
// must outlive the graphs that use it. Only one queue may use it at a time.
class ConvolutionPlan {
 public:
  virtual ~ConvolutionPlan() = default;
  virtual int64_t workspace_bytes() const = 0;
};

// Captured work, to be launched at once. Bound to its Gpu.
class CapturedGraph {
 public:
  virtual ~CapturedGraph() = default;
};

// The purpose of a queue.
enum class QueueKind {
  kComputing,
  // Only copies, zeroing and events; needs no workspace.
  kCopying,
};

// A stream of a GPU. Calls that enqueue work return at once; the work reads its
// operands when it runs. If enqueuing fails, the next TakeError or Synchronize
// returns the error. Not thread-safe.
class Queue : public Stream {
 public:
  // Source and destination may each be GPU or host memory. If host memory is
  // not pinned, the copy is slow and may block.
  virtual void Copy(void* to, const void* from, int64_t size_bytes) = 0;
  virtual void Zero(void* to, int64_t size_bytes) = 0;
  virtual void Multiply(const MatrixProduct& product) = 0;
  virtual void Convolve(const ConvolutionPlan& plan,
                        const ConvolutionBlocks& blocks) = 0;
  // Runs the kernel's body for each index in [0, count), in any order.
  virtual void ForEach(int64_t count, const Kernel& kernel) = 0;

  // Events of the same Gpu. WaitFor lets this queue wait, not the calling
  // thread.
  virtual void Record(Event& event) = 0;
  virtual void WaitFor(Event& event) = 0;

  // Work enqueued between BeginCapture and EndCapture is not run, but captured
  // into a graph. Other queues that join the capture by events must be joined
  // again by EndCapture.
  virtual void BeginCapture() = 0;
  virtual absl::StatusOr<std::unique_ptr<CapturedGraph>> EndCapture() = 0;
  virtual void Launch(CapturedGraph& graph) = 0;

  // Returns the first error of enqueuing since the last call. Does not block.
  virtual absl::Status TakeError() = 0;
};

// Memory of a whole GPU, over all processes.
struct GpuMemory {
  int64_t free_bytes = 0;
  int64_t total_bytes = 0;
};

// A GPU's rank in an NCCL group. All ranks must make the same calls in the same
// order, on their own queues.
class Communicator : public DeviceGroup {
 public:
  // Replaces `count` floats in GPU memory by their sums over the ranks, with
  // the same bits on each. status() has errors: those of this sum at the latest
  // when it is done. So check status() before enqueuing work that uses the sum,
  // and again before using that work's results. Must not be captured: NCCL
  // requires that a sum is in the graphs of all ranks or of none, and ranks may
  // differ in what they capture.
  virtual void AllReduce(float* values, int64_t count, Queue& queue) = 0;
};

// A GPU. Thread-safe.
class Gpu {
 public:
  virtual ~Gpu() = default;

  // "cuda:0".
  virtual std::string name() const = 0;

  virtual absl::StatusOr<GpuMemory> Memory() const = 0;
  // UUID of the GPU, NCCL's unique id and joining a group: see Device.
  virtual std::string gpu_uuid() const = 0;
  virtual absl::StatusOr<std::string> NewNcclId() = 0;
  virtual absl::StatusOr<std::unique_ptr<Communicator>> JoinGroup(
      const DeviceGroupOptions& options) = 0;

  // Zeroed memory. ResourceExhausted says how much was requested for `what`,
  // and how much GPU memory is free.
  virtual absl::StatusOr<MemoryBlock> Allocate(int64_t size_bytes,
                                               absl::string_view what) = 0;
  virtual absl::StatusOr<MemoryBlock> AllocatePinned(
      int64_t size_bytes, absl::string_view what) = 0;

  // Pins host memory that the caller owns, as long as the result lives. Errors
  // as above.
  virtual absl::StatusOr<MemoryBlock> Pin(absl::Span<std::byte> memory,
                                          absl::string_view what) = 0;

  // Chooses the algorithm. Blocks while it measures. Unimplemented if no
  // algorithm supports the shape with the GPU's options.
  virtual absl::StatusOr<std::unique_ptr<ConvolutionPlan>> PlanConvolution(
      const ConvolutionShape& shape, Planning planning) = 0;

  // A queue for kComputing allocates GPU memory: ResourceExhausted as above.
  virtual absl::StatusOr<std::unique_ptr<Queue>> CreateQueue(
      QueueKind kind) = 0;
  virtual absl::StatusOr<std::unique_ptr<Event>> CreateEvent() = 0;
};

// Versions in CUDA's encoding: 13000 is 13.0.
struct DriverReport {
  // The newest CUDA version that the driver supports; 0 without a driver.
  int driver_version = 0;
  // The CUDA version with which this program was built.
  int runtime_version = 0;
  // The oldest driver version that supports it.
  int needed_version = 0;
  int gpu_count = 0;
};

class Driver {
 public:
  virtual ~Driver() = default;
  virtual DriverReport Report() const = 0;
  // `ordinal`: in [0, gpu_count). The Gpu may outlive the driver object.
  virtual absl::StatusOr<std::unique_ptr<Gpu>> Open(
      int ordinal, const GpuOptions& options) = 0;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_GPU_H_
