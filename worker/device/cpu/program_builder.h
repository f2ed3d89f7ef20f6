// Collects the operations of a program on the CPU.
#ifndef PACELINE_WORKER_DEVICE_CPU_PROGRAM_BUILDER_H_
#define PACELINE_WORKER_DEVICE_CPU_PROGRAM_BUILDER_H_

#include <cstdint>
#include <dnnl.hpp>
#include <map>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "worker/device/cpu/cpu_state.h"
#include "worker/device/cpu/onednn.h"
#include "worker/device/cpu/operation.h"
#include "worker/device/device.h"
#include "worker/device/program/layout_builder.h"
#include "worker/device/program/tensor.h"
#include "worker/device/row_geometry.h"

namespace paceline::cpu {

// What the builder makes.
struct ProgramParts {
  ProgramLayout layout;
  std::vector<Operation> operations;
  // What constant tensors point to.
  std::vector<std::vector<float>> constants;
};

class ProgramBuilder final : public LayoutBuilder {
 public:
  // `state` holds the variables and gradients.
  ProgramBuilder(const ProgramSpec& spec, CpuState& state,
                 const dnnl::engine& engine);

  const dnnl::engine& engine() const { return engine_; }
  dnnl::prop_kind forward_kind() const {
    return is_training() ? dnnl::prop_kind::forward_training
                         : dnnl::prop_kind::forward_inference;
  }

  // bfloat16 or float32. Products add up in float32, which everything else is
  // but what compute_type_outputs.h names, and sums over a batch in float64.
  DataType compute_type() const override;

  // Of every primitive: the scratchpad is an argument.
  dnnl::primitive_attr PrimitiveAttributes() const;

  Tensor* NewMoved(const Tensor* from, Shape shape) override {
    return NewTensor(std::move(shape), from->type);
  }
  Tensor* NewConstant(Shape shape, std::vector<float> values) override;
  void NoteOverwriting(const Tensor* tensor) override;
  // Bytes in the arena, whatever lies in them.
  Tensor* NewScratch(int64_t size_bytes);

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
  // memory in the arena.
  void AddPrimitive(const dnnl::primitive& primitive,
                    const dnnl::memory::desc& scratchpad,
                    std::vector<PrimitiveArgument> arguments);
  void AddDoublesCopy(const Tensor* from, int64_t from_begin, const Tensor* to,
                      int64_t to_begin, int64_t count) override;
  void AddSumAllReduce(const Tensor* sums) override {
    AddAllReduce(sums, &StatisticsAllReduce::AddUp);
  }
  // As StatisticsAllReduce::MergeMoments has them.
  void AddMomentsAllReduce(const Tensor* moments) {
    AddAllReduce(moments, &StatisticsAllReduce::MergeMoments);
  }
  void AddReorder(PrimitiveArgument source, PrimitiveArgument destination);
  // `source` in the layout and type that oneDNN wants: itself, if it is so
  // already.
  Tensor* Reordered(Tensor* source, const dnnl::memory::desc& from,
                    const dnnl::memory::desc& to);

  // A tensor in the compute type: itself, or a copy, which is made once, until
  // the tensor is written over.
  Tensor* Computed(Tensor* tensor) { return Converted(tensor, compute_type()); }
  // The same in another type.
  Tensor* Converted(Tensor* tensor, DataType type);

  Tensor* AddCall(const PlacedCall& call) override;
  void AddBoxRead(const Tensor* from, const BoxAxes& box,
                  const Tensor* to) override;
  void AddBoxWrite(const Tensor* from, const BoxAxes& box,
                   const Tensor* to) override;
  // `value` is 0.
  void AddPadding(const Tensor* from, const BoxAxes& box, double value,
                  const Tensor* to) override;
  void AddCopy(const Tensor* from, const Tensor* to) override;
  Tensor* AddRegularizationScale() override;
  void AddSum(const Tensor* a, const Tensor* b, const Tensor* sum) override;
  void AddRowSums(const Tensor* from, const RowGeometry& rows,
                  const Tensor* sums) override;

  // Ends the last section, and plans the memory. `outputs` are the model's.
  ProgramParts Build(std::vector<const Tensor*> outputs) &&;

 private:
  // What the replicas do with the doubles; alone: nothing.
  void AddAllReduce(const Tensor* doubles,
                    StatisticsAllReduce::Reduction reduction);
  void AddPenaltyGradient(const Regularizer& regularizer, const Tensor* values,
                          const Tensor* gradients) override;

  dnnl::engine engine_;
  // Without the layout.
  ProgramParts parts_;
  // By original and type.
  std::map<std::pair<const Tensor*, DataType>, Tensor*> converted_;
};

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_PROGRAM_BUILDER_H_
