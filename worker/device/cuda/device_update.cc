#include "worker/device/cuda/device_update.h"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "common/optimizer/constrain.h"
#include "common/optimizer/optimizers.h"
#include "worker/device/bucket_memory.h"
#include "worker/device/cuda/kernels/accumulate_gradients.h"
#include "worker/device/cuda/kernels/average_variables.h"
#include "worker/device/cuda/orthogonalize.h"

namespace paceline::cuda {
namespace {

constexpr auto kElementBytes = static_cast<int64_t>(sizeof(float));

}  // namespace

DeviceUpdate::DeviceUpdate(ProgramBuilder& builder, CudaState& state)
    : builder_(builder),
      state_(state),
      layout_(*builder.spec().bucket_layout),
      optimizer_(*builder.spec().optimizer) {}

void DeviceUpdate::AddWithoutGradients() {
  const size_t size_bytes = GradientBytes(layout_, DataType::kFloat32);
  builder_.Add({},
               [size_bytes, gradients = state_.all_gradients()](Queue& queue) {
                 queue.Zero(gradients, static_cast<int64_t>(size_bytes));
               });
  Add();
}

void DeviceUpdate::Add() {
  if (builder_.spec().group != nullptr) AddAllReduce();
  for (const Range& range : RangesOf(/*trained=*/false)) AddDeltas(range);
  const std::vector<Range> trained = RangesOf(/*trained=*/true);
  for (const Range& range : trained) {
    builder_.AddUnscaling(gradients(range), range.count);
  }
  // Each range is accumulated as zeros if any of them overflowed.
  for (const Range& range : trained) {
    if (optimizer_.accumulates()) AddAccumulation(range);
  }
  const Clipping& clipping = optimizer_.clipping;
  if (clipping.norm) ClipEach(*clipping.norm);
  const Tensor* const factor =
      clipping.global_norm ? AddClipFactor(*clipping.global_norm, trained)
                           : nullptr;
  if (optimizer_.updates_by_variable()) {
    for (const TrainedVariable& each : TrainedVariables()) {
      const VariableSpec& variable = layout_.variables()[each.index];
      AddUpdateOf({variable.name, variable.shape}, each.range, factor);
    }
  } else {
    for (const Range& range : trained) {
      AddUpdateOf(/*variable=*/{}, range, factor);
    }
  }
  builder_.AddLossScaleChange();
}

std::vector<DeviceUpdate::Range> DeviceUpdate::RangesOf(bool trained) const {
  std::vector<Range> ranges;
  int64_t begin = 0;
  bool goes_on = false;
  for (const Bucket& bucket : layout_.updated_buckets()) {
    const int64_t count =
        static_cast<int64_t>(BucketStride(bucket, DataType::kFloat32)) /
        kElementBytes;
    if (bucket.is_trained() != trained) {
      goes_on = false;
    } else if (goes_on) {
      ranges.back().count += count;
    } else {
      ranges.push_back({begin, count});
      goes_on = true;
    }
    begin += count;
  }
  return ranges;
}

float* DeviceUpdate::values(const Range& range) const {
  return state_.all_variables() + range.begin;
}
float* DeviceUpdate::gradients(const Range& range) const {
  return state_.all_gradients() + range.begin;
}
float* DeviceUpdate::slot(int slot, const Range& range) const {
  return state_.all_of_slot(slot) + range.begin;
}

void DeviceUpdate::AddAllReduce() {
  auto& communicator = static_cast<Communicator&>(*builder_.spec().group);
  const int64_t count =
      static_cast<int64_t>(GradientBytes(layout_, DataType::kFloat32)) /
      kElementBytes;
  builder_.Add({}, [&communicator, count,
                    gradients = state_.all_gradients()](Queue& queue) {
    communicator.AllReduce(gradients, count, queue);
  });
}

const LossScale* DeviceUpdate::skips() const {
  return optimizer_.accumulates() ? nullptr : state_.loss_scale();
}

void DeviceUpdate::AddAccumulation(const Range& range) {
  const size_t slot_count = optimizer_.slot_names().size();
  AccumulateGradients update;
  update.count = range.count;
  update.gradients = gradients(range);
  update.accumulators =
      slot(static_cast<int>(optimizer_.AccumulatorSlotOf(slot_count)), range);
  update.step = builder_.step();
  update.loss_scale = state_.loss_scale();
  builder_.AddKernel({}, FourBlocks(range.count), [update] { return update; });
}

void DeviceUpdate::AddDeltas(const Range& range) {
  builder_.AddKernel(
      {}, FourBlocks(range.count),
      [update = DeltasUpdate{range.count, values(range), gradients(range)}] {
        return update;
      });
}

std::vector<DeviceUpdate::TrainedVariable> DeviceUpdate::TrainedVariables()
    const {
  std::vector<TrainedVariable> variables;
  for (const Bucket& bucket : layout_.updated_buckets()) {
    if (!bucket.is_trained()) continue;
    for (const int variable : bucket.variables) {
      const Tensor* const gradient = builder_.gradient(variable);
      variables.push_back(
          {variable,
           {gradient->floats() - state_.all_gradients(), gradient->count()}});
    }
  }
  return variables;
}

void DeviceUpdate::ClipEach(double bound) {
  for (const TrainedVariable& variable : TrainedVariables()) {
    const Range& range = variable.range;
    const Tensor* const factor = AddClipFactor(bound, {range});
    builder_.AddKernel({factor}, range.count,
                       [factor, gradients = gradients(range)] {
                         return ScaleElements{factor->floats(), gradients};
                       });
  }
}

const Tensor* DeviceUpdate::AddClipFactor(double bound,
                                          const std::vector<Range>& ranges) {
  int64_t parts = 0;
  for (const Range& range : ranges) parts += FirstPartCount(range.count, 1);
  const Tensor* const first = builder_.NewTensor<double>({parts});
  int64_t part = 0;
  for (const Range& range : ranges) {
    const int64_t count = FirstPartCount(range.count, 1);
    builder_.AddKernel({first}, count, [=, g = gradients(range)] {
      return SquareSums{range.count, count, g, first->doubles() + part};
    });
    part += count;
  }
  const Tensor* const factor = builder_.NewTensor<float>({1});
  const PartSums sums = builder_.AddPasses({first});
  builder_.AddKernel({sums.tensor, factor}, 1, [=] {
    return ClipFactor{bound, sums.parts(), sums.tensor->doubles(),
                      factor->floats()};
  });
  return factor;
}

GradientClip DeviceUpdate::ClipByValue() const {
  GradientClip clip;
  if (optimizer_.clipping.value) {
    clip.bound = static_cast<float>(*optimizer_.clipping.value);
  }
  return clip;
}

void DeviceUpdate::AddUpdateOf(const UpdatedVariable& variable,
                               const Range& range, const Tensor* factor) {
  const bool changes = optimizer_.Changes(variable);
  if (changes) {
    const WeightDecay decay = {optimizer_.WeightDecayOf(variable)};
    std::visit(
        [&](const auto& formula) { AddUpdate(formula, decay, range, factor); },
        optimizer_.FormulaFor(variable));
  }
  if (optimizer_.use_ema) AddAveraging(range);
  if (!changes) return;
  if (const Constraint* constraint = optimizer_.ConstraintOf(variable)) {
    AddConstraint(*constraint, variable.shape, range);
  }
}

void DeviceUpdate::AddAveraging(const Range& range) {
  const int average = static_cast<int>(optimizer_.slot_names().size()) - 1;
  AverageVariables update;
  update.count = range.count;
  update.values = values(range);
  update.averages = slot(average, range);
  update.step = builder_.step();
  update.loss_scale = skips();
  builder_.AddKernel({}, FourBlocks(range.count), [update] { return update; });
}

void DeviceUpdate::AddConstraint(const Constraint& constraint,
                                 absl::Span<const int64_t> shape,
                                 const Range& variable) {
  if (!constraint.has_norms()) {
    builder_.AddKernel({}, variable.count,
                       [kernel = ConstrainToNonNegative{
                            values(variable), skips()}] { return kernel; });
    return;
  }
  const ConstrainNorms kernel = {NormGroupsOf(constraint, shape),
                                 NormBoundsOf(constraint), values(variable),
                                 skips()};
  builder_.AddKernel({}, kernel.groups.group_count,
                     [kernel] { return kernel; });
}

template <typename Formula>
void DeviceUpdate::AddUpdate(const Formula& formula, WeightDecay decay,
                             const Range& range, const Tensor* factor) {
  UpdateVariables<Formula> update;
  update.count = range.count;
  update.tensors[0] = values(range);
  for (int i = 0; i < Formula::kSlotCount; ++i) {
    update.tensors[1 + i] = slot(i, range);
  }
  update.gradients = gradients(range);
  update.step = builder_.step();
  update.formula = formula;
  update.clip = ClipByValue();
  update.decay = decay;
  update.loss_scale = skips();
  std::vector<const Tensor*> used;
  if (factor != nullptr) used.push_back(factor);
  builder_.AddKernel(used, FourBlocks(range.count), [=]() mutable {
    if (factor != nullptr) update.clip.factor = factor->floats();
    return Kernel(update);
  });
}

template <typename Formula>
SlotUpdate<Formula> DeviceUpdate::UpdateOfSlots(const Formula& formula,
                                                const Range& variable) const {
  SlotUpdate<Formula> update;
  for (int i = 0; i < Formula::kSlotCount; ++i) {
    update.slots[i] = slot(i, variable);
  }
  update.gradients = gradients(variable);
  update.step = builder_.step();
  update.formula = formula;
  update.clip = ClipByValue();
  update.loss_scale = skips();
  return update;
}

template <HasNorms Formula>
void DeviceUpdate::AddUpdate(const Formula& formula, WeightDecay decay,
                             const Range& variable, const Tensor* factor) {
  const int64_t parts = PartCount(variable.count);
  const Tensor* const sums = builder_.NewTensor<double>({2, parts});
  const Tensor* const rate = builder_.NewTensor<float>({1});
  UpdateSlots<Formula> slots;
  slots.count = variable.count;
  slots.parts = parts;
  slots.variable = values(variable);
  slots.update = UpdateOfSlots(formula, variable);
  slots.decay = decay;
  MoveByDirection<Formula> move;
  move.variable = values(variable);
  std::copy_n(slots.update.slots, Formula::kSlotCount, move.slots);
  move.step = builder_.step();
  move.formula = formula;
  move.decay = decay;
  move.loss_scale = skips();
  std::vector<const Tensor*> used = {sums};
  if (factor != nullptr) used.push_back(factor);
  builder_.AddKernel(used, parts, [=]() mutable {
    if (factor != nullptr) slots.update.clip.factor = factor->floats();
    slots.sums = sums->doubles();
    return Kernel(slots);
  });
  builder_.AddKernel({sums, rate}, 1, [=, step = builder_.step()] {
    return Kernel(WriteUpdateRate<Formula>{parts, sums->doubles(), step,
                                           formula, rate->floats()});
  });
  builder_.AddKernel({rate}, variable.count, [=]() mutable {
    move.rate = rate->floats();
    return Kernel(move);
  });
}

template <UpdatesMatrices Formula>
const Tensor* DeviceUpdate::AddDirection(const Formula& formula,
                                         const Range& variable,
                                         const Tensor* factor) {
  const Tensor* const direction =
      builder_.NewTensor<float>({formula.rows, formula.columns});
  FindDirection<Formula> find;
  find.update = UpdateOfSlots(formula, variable);
  std::vector<const Tensor*> used = {direction};
  if (factor != nullptr) used.push_back(factor);
  builder_.AddKernel(used, variable.count, [=]() mutable {
    if (factor != nullptr) find.update.clip.factor = factor->floats();
    find.direction = direction->floats();
    return Kernel(find);
  });
  return direction;
}

template <UpdatesMatrices Formula>
void DeviceUpdate::AddUpdate(const Formula& formula, WeightDecay decay,
                             const Range& variable, const Tensor* factor) {
  const Tensor* const orthogonal = AddOrthogonalize(
      builder_, formula.iteration, AddDirection(formula, variable, factor));
  MoveByFactor<Formula> move;
  move.variable = values(variable);
  move.step = builder_.step();
  move.formula = formula;
  move.decay = decay;
  move.loss_scale = skips();
  builder_.AddKernel({orthogonal}, variable.count, [=]() mutable {
    move.factor = orthogonal->floats();
    return Kernel(move);
  });
}

}  // namespace paceline::cuda
