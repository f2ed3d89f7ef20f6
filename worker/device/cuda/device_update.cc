#include "worker/device/cuda/device_update.h"

#include <cstddef>
#include <variant>

#include "common/optimizer/optimizers.h"
#include "worker/device/bucket_memory.h"

namespace paceline::cuda {
namespace {

constexpr auto kElementBytes = static_cast<int64_t>(sizeof(float));

}  // namespace

DeviceUpdate::DeviceUpdate(ProgramBuilder& builder, CudaState& state)
    : builder_(builder),
      state_(state),
      plan_(*builder.spec().plan),
      optimizer_(*builder.spec().optimizer) {}

void DeviceUpdate::AddWithoutGradients() {
  const size_t size_bytes = GradientBytes(plan_, DataType::kFloat32);
  builder_.Add({},
               [size_bytes, gradients = state_.all_gradients()](Queue& queue) {
                 queue.Zero(gradients, static_cast<int64_t>(size_bytes));
               });
  Add();
}

void DeviceUpdate::Add() {
  if (builder_.spec().group != nullptr) AddAllReduce();
  for (const Range& range : RangesOf(/*trained=*/false)) AddDifferences(range);
  const std::vector<Range> trained = RangesOf(/*trained=*/true);
  for (const Range& range : trained) {
    builder_.AddUnscaling(gradients(range), range.count);
  }
  const Clipping& clipping = optimizer_.clipping;
  if (clipping.norm) ClipEach(*clipping.norm);
  const Tensor* const factor =
      clipping.global_norm ? AddClipFactor(*clipping.global_norm, trained)
                           : nullptr;
  for (const Range& range : trained) AddOptimizer(range, factor);
  builder_.AddLossScaleChange();
}

std::vector<DeviceUpdate::Range> DeviceUpdate::RangesOf(bool trained) const {
  std::vector<Range> ranges;
  int64_t begin = 0;
  bool goes_on = false;
  for (const Bucket& bucket : plan_.updated_buckets()) {
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
      static_cast<int64_t>(GradientBytes(plan_, DataType::kFloat32)) /
      kElementBytes;
  builder_.Add({}, [&communicator, count,
                    gradients = state_.all_gradients()](Queue& queue) {
    communicator.AllReduce(gradients, count, queue);
  });
}

void DeviceUpdate::AddDifferences(const Range& range) {
  builder_.AddKernel(
      {}, FourBlocks(range.count),
      [update = DifferencesUpdate{range.count, values(range),
                                  gradients(range)}] { return update; });
}

void DeviceUpdate::ClipEach(double bound) {
  for (const Bucket& bucket : plan_.updated_buckets()) {
    if (!bucket.is_trained()) continue;
    for (const int variable : bucket.variables) {
      const Tensor* const gradient = builder_.gradient(variable);
      const int64_t begin = gradient->floats() - state_.all_gradients();
      const Tensor* const factor =
          AddClipFactor(bound, {{begin, gradient->count()}});
      builder_.AddKernel({factor}, gradient->count(), [=] {
        return ScaleGradients{factor->floats(), gradient->floats()};
      });
    }
  }
}

const Tensor* DeviceUpdate::AddClipFactor(double bound,
                                          const std::vector<Range>& ranges) {
  int64_t parts = 0;
  for (const Range& range : ranges) parts += PartCount(range.count);
  const Tensor* const sums = builder_.NewTensor<double>({parts});
  int64_t part = 0;
  for (const Range& range : ranges) {
    const int64_t count = PartCount(range.count);
    builder_.AddKernel({sums}, count, [=, g = gradients(range)] {
      return SquareSums{range.count, count, g, sums->doubles() + part};
    });
    part += count;
  }
  const Tensor* const factor = builder_.NewTensor<float>({1});
  builder_.AddKernel({sums, factor}, 1, [=] {
    return ClipFactor{bound, parts, sums->doubles(), factor->floats()};
  });
  return factor;
}

void DeviceUpdate::AddOptimizer(const Range& range, const Tensor* factor) {
  std::visit([&](const auto& formula) { AddFormula(formula, range, factor); },
             optimizer_.formula());
}

template <typename Formula>
void DeviceUpdate::AddFormula(const Formula& formula, const Range& range,
                              const Tensor* factor) {
  UpdateVariables<Formula> update;
  update.count = range.count;
  update.tensors[0] = values(range);
  for (int i = 0; i < Formula::kSlotCount; ++i) {
    update.tensors[1 + i] = slot(i, range);
  }
  update.gradients = gradients(range);
  update.step = builder_.step();
  update.formula = formula;
  if (optimizer_.clipping.value) {
    update.clip.bound = static_cast<float>(*optimizer_.clipping.value);
  }
  update.loss_scale = state_.loss_scale();
  std::vector<const Tensor*> used;
  if (factor != nullptr) used.push_back(factor);
  builder_.AddKernel(used, FourBlocks(range.count), [=]() mutable {
    if (factor != nullptr) update.clip.factor = factor->floats();
    return Kernel(update);
  });
}

}  // namespace paceline::cuda
