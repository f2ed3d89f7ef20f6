// Updates the variables at the end of a training program.
//
// Buckets with the same kind of update are adjacent, so each operation covers
// all of them at once, including the gaps between them, which nothing reads.
// Clipping by each variable's norm, and optimizers that update whole variables,
// work on one variable at a time.
#ifndef PACELINE_WORKER_DEVICE_CUDA_DEVICE_UPDATE_H_
#define PACELINE_WORKER_DEVICE_CUDA_DEVICE_UPDATE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/model/constraint.h"
#include "common/optimizer/formula.h"
#include "common/optimizer/optimizer.h"
#include "worker/device/cuda/cuda_state.h"
#include "worker/device/cuda/kernels/loss_scale.h"
#include "worker/device/cuda/kernels/slot_update.h"
#include "worker/device/cuda/kernels/update_variables.h"
#include "worker/device/cuda/program_builder.h"

namespace paceline::cuda {

// Adds the operations of an update by the optimizer in a program's spec.
class DeviceUpdate {
 public:
  // The builder's gradients must be complete. `state` must be that of the
  // program. Both must outlive the object.
  DeviceUpdate(ProgramBuilder& builder, CudaState& state);

  void Add();
  // The same for a step in which this replica has no example: its gradients are
  // zeros.
  void AddWithoutGradients();

 private:
  // A range of elements in the memory of all buckets.
  struct Range {
    int64_t begin = 0;
    int64_t count = 0;
  };

  // Maximal ranges of adjacent buckets whose variables are trained; or of those
  // whose are not.
  std::vector<Range> RangesOf(bool trained) const;
  float* values(const Range& range) const;
  float* gradients(const Range& range) const;
  float* slot(int slot, const Range& range) const;

  // By which kernels behind AddAccumulation skip steps with an overflow; null:
  // they skip none, since the gradients of such a step have counted as zeros.
  const LossScale* skips() const;

  // Sums all gradients and statistics' deltas over the replicas.
  void AddAllReduce();
  void AddDeltas(const Range& range);
  void AddAccumulation(const Range& range);
  // A trained variable.
  struct TrainedVariable {
    int index = 0;
    Range range;
  };
  std::vector<TrainedVariable> TrainedVariables() const;
  // Clips the gradients of each variable by its norm.
  void ClipEach(double bound);
  // Writes the clipping factor for the gradients of `ranges` together.
  const Tensor* AddClipFactor(double bound, const std::vector<Range>& ranges);
  // Adds the update of a range of variables; of `variable` if the optimizer
  // updates by variable. `factor` is a clipping factor for all gradients; null:
  // 1.
  void AddUpdateOf(const UpdatedVariable& variable, const Range& range,
                   const Tensor* factor);
  // Averages updated variables.
  void AddAveraging(const Range& range);
  // Applies a constraint to a variable of this shape.
  void AddConstraint(const Constraint& constraint,
                     absl::Span<const int64_t> shape, const Range& variable);
  template <typename Formula>
  void AddUpdate(const Formula& formula, WeightDecay decay, const Range& range,
                 const Tensor* factor);
  template <HasNorms Formula>
  void AddUpdate(const Formula& formula, WeightDecay decay,
                 const Range& variable, const Tensor* factor);
  template <UpdatesMatrices Formula>
  void AddUpdate(const Formula& formula, WeightDecay decay,
                 const Range& variable, const Tensor* factor);
  // The inputs and outputs of the kernel that updates the slots of a variable.
  template <typename Formula>
  SlotUpdate<Formula> UpdateOfSlots(const Formula& formula,
                                    const Range& variable) const;
  // Adds the first operations of the update of a matrix. Returns its direction.
  template <UpdatesMatrices Formula>
  const Tensor* AddDirection(const Formula& formula, const Range& variable,
                             const Tensor* factor);
  GradientClip ClipByValue() const;

  ProgramBuilder& builder_;
  CudaState& state_;
  const BucketLayout& layout_;
  const Optimizer& optimizer_;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_DEVICE_UPDATE_H_
