// Collects the operations of a program and the tensors between them.
//
// Layers are written against it: each adds the operations of its forward and
// its backward, in order. The builder notes when a tensor is first and last
// used, which gives the memory plan, and when the gradient of a variable is
// final, which gives the sections.
#ifndef PACELINE_WORKER_DEVICE_CPU_PROGRAM_BUILDER_H_
#define PACELINE_WORKER_DEVICE_CPU_PROGRAM_BUILDER_H_

#include <dnnl.hpp>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "worker/device/cpu/cpu_state.h"
#include "worker/device/cpu/onednn.h"
#include "worker/device/cpu/tensor.h"
#include "worker/device/device.h"
#include "worker/device/memory_plan.h"

namespace paceline::cpu {

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
  // Those of the batch.
  Memory* features = nullptr;
  Memory* labels = nullptr;
  // The model's output; in evaluation, it stays until the next batch.
  const Tensor* output = nullptr;
};

class ProgramBuilder {
 public:
  // `state` holds the variables and gradients.
  ProgramBuilder(const ProgramSpec& spec, CpuState& state,
                 const dnnl::engine& engine);

  const ProgramSpec& spec() const { return spec_; }
  bool is_training() const { return spec_.mode == Mode::kTrain; }
  const dnnl::engine& engine() const { return engine_; }
  dnnl::prop_kind forward_kind() const {
    return is_training() ? dnnl::prop_kind::forward_training
                         : dnnl::prop_kind::forward_inference;
  }

  // --- Tensors. Pointers stay valid as long as the program. ---

  // In the arena, from the first operation that uses it to the last.
  Tensor* NewTensor(Shape shape, DataType type = DataType::kFloat32);
  // Bytes in the arena, whatever lies in them.
  Tensor* NewScratch(int64_t size_bytes);
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

  // --- Operations, in the order in which they run. ---

  // `used` are the tensors that it reads or writes.
  void Add(const std::vector<const Tensor*>& used, Operation operation);
  // Work on [0, count), split among the threads; `elements_each` is the work of
  // one index.
  using RangeOperation =
      absl::AnyInvocable<void(int64_t begin, int64_t end) const>;
  void AddParallel(const std::vector<const Tensor*>& used, int64_t count,
                   int64_t elements_each, RangeOperation operation);
  // A oneDNN primitive, created with a scratchpad of the user's, which gets its
  // place in the arena.
  void AddPrimitive(const dnnl::primitive& primitive,
                    const dnnl::memory::desc& scratchpad,
                    std::vector<PrimitiveArgument> arguments);
  void AddReorder(PrimitiveArgument source, PrimitiveArgument destination);
  // `source` as oneDNN wants it: itself, if it lies so already.
  Tensor* Reordered(Tensor* source, const dnnl::memory::desc& from,
                    const dnnl::memory::desc& to);

  // The gradient of the loss by a variable is written: adds that of its
  // regularizer, and ends a section where this makes a bucket final.
  void FinishGradient(int variable);

  // Ends the last section, and plans the memory. `output` is the model's.
  ProgramParts Build(const Tensor* output) &&;

 private:
  // A tensor in a block of its own.
  Tensor* Own(Shape shape, std::byte* data = nullptr);
  void AddPenaltyGradients(int variable);
  void ExtendLife(const Tensor* tensor, int last);

  const ProgramSpec& spec_;
  dnnl::engine engine_;
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

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_PROGRAM_BUILDER_H_
