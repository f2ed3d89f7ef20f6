// Collects the operations of a program and the tensors between them.
//
// Layers are written against it: each adds the operations of its forward and
// its backward, in order. The builder notes when a tensor is first and last
// used, which gives the memory plan, and when the gradient of a variable is
// final, which gives the sections.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PROGRAM_BUILDER_H_
#define PACELINE_WORKER_DEVICE_CUDA_PROGRAM_BUILDER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "worker/device/cuda/cuda_state.h"
#include "worker/device/cuda/kernels/kernel.h"
#include "worker/device/cuda/tensor.h"
#include "worker/device/device.h"
#include "worker/device/memory_plan.h"

namespace paceline::cuda {

// What the builder makes.
struct ProgramParts {
  struct SectionEnd {
    Section section;
    // The section's operations are those from the section before up to here.
    int end = 0;
  };
  std::vector<Operation> operations;
  std::vector<SectionEnd> sections;
  // Own what the operations point to.
  std::vector<std::unique_ptr<Tensor>> tensors;
  std::vector<std::unique_ptr<Memory>> memories;
  // Blocks in the arena, with their offsets in bytes.
  std::vector<std::pair<Memory*, int64_t>> offsets;
  int64_t arena_size_bytes = 0;
  // Those of the batch, which the program places.
  Memory* features = nullptr;
  Memory* labels = nullptr;
  int64_t features_size_bytes = 0;
  int64_t labels_size_bytes = 0;
  // The model's output; in evaluation, it stays until the next batch.
  const Tensor* output = nullptr;
};

class ProgramBuilder {
 public:
  // `state` holds the variables and gradients.
  ProgramBuilder(const ProgramSpec& spec, CudaState& state);

  const ProgramSpec& spec() const { return spec_; }
  bool is_training() const { return spec_.mode == Mode::kTrain; }

  // --- Tensors. Pointers stay valid as long as the program. ---

  // In the arena, from the first operation that uses it to the last.
  Tensor* NewTensor(Shape shape) { return NewTensor(shape, sizeof(float)); }
  Tensor* NewTensor(const Shape& shape, int64_t element_size_bytes);
  // The same memory under another shape.
  Tensor* Reshaped(const Tensor* tensor, Shape shape);

  // The batch. Not in the arena.
  Tensor* features() { return features_; }
  Tensor* labels() { return labels_; }
  Tensor* variable(int index) { return variables_[index]; }
  // Where the gradient of a variable must be written.
  Tensor* gradient(int index) { return gradients_[index]; }
  // `shape` of an example, for the batch.
  Shape BatchShape(const Shape& shape) const;

  // Of the step under way, in the GPU's memory.
  const StepValues* step() const { return state_.step(); }

  // --- Operations, in the order in which they run. ---

  // `used` are the tensors that it reads or writes.
  void Add(const std::vector<const Tensor*>& used, Operation operation);
  // A kernel over [0, count): `make` is called as it is enqueued, when the
  // tensors have addresses.
  void AddKernel(const std::vector<const Tensor*>& used, int64_t count,
                 std::function<Kernel()> make);
  // result = left · right, with the sizes and transpositions of `product`.
  void AddProduct(const Tensor* left, const Tensor* right, const Tensor* result,
                  MatrixProduct product);
  // sums (columns) = Σ over the rows of `values` (rows, columns).
  void AddColumnSums(const Tensor* values, int64_t rows, int64_t columns,
                     const Tensor* sums);
  // Adds factor · Σ `values`, doubles, to element `index` of the metrics, and
  // `examples` to its count.
  void AddToMetrics(size_t index, const Tensor* values, double factor,
                    double examples);

  // The gradient of the loss by a variable is written: adds that of its
  // regularizer, and ends a section where this makes a bucket final that leaves
  // the device.
  void FinishGradient(int variable);

  // Ends the last section, and plans the memory. `output` is the model's.
  ProgramParts Build(const Tensor* output) &&;

 private:
  // A tensor in a block of its own.
  Tensor* Own(Shape shape, std::byte* data = nullptr);
  void AddPenaltyGradients(int variable);
  void ExtendLife(const Tensor* tensor, int last);
  void EndSection();
  void PlanArena();

  const ProgramSpec& spec_;
  CudaState& state_;
  ProgramParts parts_;
  // Of the blocks in the arena.
  std::map<const Memory*, Lifetime> lifetimes_;
  Tensor* features_;
  Tensor* labels_;
  std::vector<Tensor*> variables_;
  std::vector<Tensor*> gradients_;
  // Of each bucket, the variables whose gradients are still to come.
  std::vector<size_t> unfinished_;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PROGRAM_BUILDER_H_
