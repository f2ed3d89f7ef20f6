// The update of the variables as the end of a training program.
//
// Buckets that are updated alike lie side by side, so each operation runs over
// all of them at once, and over the gaps between them, which nobody reads.
// Clipping by the norm of a variable, and an optimizer that updates by
// variable, run over each variable by itself.
#ifndef PACELINE_WORKER_DEVICE_CUDA_DEVICE_UPDATE_H_
#define PACELINE_WORKER_DEVICE_CUDA_DEVICE_UPDATE_H_

#include <cstdint>
#include <vector>

#include "common/optimizer/formula.h"
#include "common/optimizer/optimizer.h"
#include "worker/device/cuda/cuda_state.h"
#include "worker/device/cuda/kernels/slot_update.h"
#include "worker/device/cuda/program_builder.h"

namespace paceline::cuda {

// Adds the operations of an update by the optimizer of a program's spec.
class DeviceUpdate {
 public:
  // The builder's gradients are complete. `state` is that of the program. Both
  // outlive the object.
  DeviceUpdate(ProgramBuilder& builder, CudaState& state);

  void Add();
  // The same for a step in which this replica has no example.
  void AddWithoutGradients();

 private:
  // Elements of all buckets' memory.
  struct Range {
    int64_t begin = 0;
    int64_t count = 0;
  };

  // Neighbouring buckets whose variables are trained, or are not.
  std::vector<Range> RangesOf(bool trained) const;
  float* values(const Range& range) const;
  float* gradients(const Range& range) const;
  float* slot(int slot, const Range& range) const;

  // Of all gradients and deltas, with the other replicas.
  void AddAllReduce();
  void AddDeltas(const Range& range);
  // A trained variable.
  struct TrainedVariable {
    int index = 0;
    Range range;
  };
  std::vector<TrainedVariable> TrainedVariables() const;
  // Scales the gradients of each variable by its norm.
  void ClipEach(double bound);
  // Writes the factor of the gradients of `ranges` together.
  const Tensor* AddClipFactor(double bound, const std::vector<Range>& ranges);
  // Adds the update of a range of variables, or of one variable where the
  // optimizer updates by variable. `factor` is that of all gradients; null: 1.
  void AddAnyFormula(const AnyFormula& formula, const Range& range,
                     const Tensor* factor);
  template <typename Formula>
  void AddUpdate(const Formula& formula, const Range& range,
                 const Tensor* factor);
  template <HasNorms Formula>
  void AddUpdate(const Formula& formula, const Range& variable,
                 const Tensor* factor);
  template <UpdatesMatrices Formula>
  void AddUpdate(const Formula& formula, const Range& variable,
                 const Tensor* factor);
  // What updates the slots of a variable.
  template <typename Formula>
  SlotUpdate<Formula> UpdateOfSlots(const Formula& formula,
                                    const Range& variable) const;
  // The first operations of the update of a matrix. Returns its direction.
  template <UpdatesMatrices Formula>
  const Tensor* AddDirection(const Formula& formula, const Range& variable,
                             const Tensor* factor);
  GradientClip ClipByValue() const;

  ProgramBuilder& builder_;
  CudaState& state_;
  const ShardPlan& plan_;
  const Optimizer& optimizer_;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_DEVICE_UPDATE_H_
