// Collects the operations of a program on the CPU.
#ifndef PACELINE_WORKER_DEVICE_CPU_PROGRAM_BUILDER_H_
#define PACELINE_WORKER_DEVICE_CPU_PROGRAM_BUILDER_H_

#include <cstdint>
#include <dnnl.hpp>
#include <map>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "worker/device/cpu/cpu_state.h"
#include "worker/device/cpu/onednn.h"
#include "worker/device/cpu/operation.h"
#include "worker/device/device.h"
#include "worker/device/program/layout_builder.h"
#include "worker/device/program/tensor.h"
#include "worker/device/row_geometry.h"

namespace paceline::cpu {

// The result of the builder.
struct ProgramParts {
  ProgramLayout layout;
  std::vector<Operation> operations;
  // The values of constant tensors.
  std::vector<std::vector<float>> constants;
};

class ProgramBuilder final : public LayoutBuilder {
 public:
  // `state` has the variables and gradients.
  ProgramBuilder(const ProgramSpec& spec, CpuState& state,
                 const dnnl::engine& engine);

  const dnnl::engine& engine() const { return engine_; }
  dnnl::prop_kind forward_kind() const {
    return is_training() ? dnnl::prop_kind::forward_training
                         : dnnl::prop_kind::forward_inference;
  }

  // The compute type of the layer's convolutions and matrix products: bfloat16
  // or float32. They accumulate in float32. Tensors are float32 except those
  // that compute_type_outputs.h names, and sums over a batch are float64.
  DataType compute_type() const override;

  // The attributes of every primitive: the caller passes the scratchpad.
  dnnl::primitive_attr PrimitiveAttributes() const;

  Tensor* NewMoved(const Tensor* from, Shape shape) override {
    return NewTensor(std::move(shape), from->type);
  }
  Tensor* NewConstant(Shape shape, std::vector<float> values) override;
  void NoteOverwriting(const Tensor* tensor) override;
  // Untyped memory in the arena.
  Tensor* NewScratch(int64_t size_bytes);

  // --- Operations, in the order in which they run. ---

  // `used` lists the tensors that the operation reads or writes.
  void Add(const std::vector<const Tensor*>& used, Operation operation);
  // Work on indices [0, count), split among the threads. `elements_each` is the
  // work per index.
  using RangeOperation =
      absl::AnyInvocable<void(int64_t begin, int64_t end) const>;
  void AddParallel(const std::vector<const Tensor*>& used, int64_t count,
                   int64_t elements_each, RangeOperation operation);
  // A oneDNN primitive, which must have been created with a user-provided
  // scratchpad. The builder places the scratchpad in the arena.
  void AddPrimitive(const dnnl::primitive& primitive,
                    const dnnl::memory::desc& scratchpad,
                    std::vector<PrimitiveArgument> arguments);
  struct NewPrimitive {
    dnnl::primitive primitive;
    dnnl::memory::desc scratchpad;
    std::vector<PrimitiveArgument> arguments;
  };
  // The same for a list. If there are several, they run at the same time, each
  // on one thread, and must have been created under OneThread (parallel.h).
  void AddPrimitives(std::vector<NewPrimitive> primitives);
  void AddDoublesCopy(const Tensor* from, int64_t from_begin, const Tensor* to,
                      int64_t to_begin, int64_t count) override;
  void AddSumAllReduce(const Tensor* sums) override {
    AddAllReduce(sums, &StatisticsAllReduce::AddUp);
  }
  // See StatisticsAllReduce::MergeMoments.
  void AddMomentsAllReduce(const Tensor* moments) {
    AddAllReduce(moments, &StatisticsAllReduce::MergeMoments);
  }
  void AddReorder(PrimitiveArgument source, PrimitiveArgument destination);
  // `source` in oneDNN's preferred layout and type: itself, if it already has
  // it.
  Tensor* Reordered(Tensor* source, const dnnl::memory::desc& from,
                    const dnnl::memory::desc& to);

  // A tensor in compute_type(): itself, or a converted copy. The copy is reused
  // until the tensor is overwritten.
  Tensor* Computed(Tensor* tensor) { return Converted(tensor, compute_type()); }
  // The same for another type.
  Tensor* Converted(Tensor* tensor, DataType type);

  Tensor* AddCall(const PlacedCall& call) override;
  void AddBoxRead(const Tensor* from, const BoxAxes& box,
                  const Tensor* to) override;
  void AddBoxWrite(const Tensor* from, const BoxAxes& box,
                   const Tensor* to) override;
  // `value` must be 0.
  void AddPadding(const Tensor* from, const BoxAxes& box, double value,
                  const Tensor* to) override;
  void AddCopy(const Tensor* from, const Tensor* to) override;
  void AddLoop(const std::vector<const Tensor*>& used, int64_t steps,
               absl::FunctionRef<void()> add_body) override;
  Tensor* AddRegularizationScale() override;
  void AddSum(const Tensor* a, const Tensor* b, const Tensor* sum) override;
  void AddRowSums(const Tensor* from, const RowGeometry& rows,
                  const Tensor* sums) override;
  void AddPermutation(const Tensor* from, const PermutedAxes& axes,
                      const Tensor* to) override;
  void AddRowMaxima(const Tensor* from, const RowGeometry& rows,
                    const Tensor* maxima) override;

  // Ends the last section, and plans the memory. `outputs` are the model's.
  ProgramParts Build(std::vector<const Tensor*> outputs) &&;

 private:
  // Adds a call of StatisticsAllReduce on `doubles`; nothing if there is a
  // single replica.
  void AddAllReduce(const Tensor* doubles,
                    StatisticsAllReduce::Reduction reduction);
  void AddPenaltyGradient(const Regularizer& regularizer, const Tensor* values,
                          const Tensor* gradients) override;
  // Places the scratchpad, and notes what the primitive uses.
  PrimitiveCall Place(NewPrimitive primitive, std::vector<const Tensor*>& used);

  dnnl::engine engine_;
  // All parts but the layout.
  ProgramParts parts_;
  // Converted copies, by original and type.
  std::map<std::pair<const Tensor*, DataType>, Tensor*> converted_;
};

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_PROGRAM_BUILDER_H_
