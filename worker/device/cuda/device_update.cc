#include "worker/device/cuda/device_update.h"

#include <cstddef>

#include "common/optimizer/adam.h"
#include "common/optimizer/sgd.h"
#include "glog/logging.h"
#include "worker/device/bucket_memory.h"

namespace paceline::cuda {
namespace {

// Null if it is another.
const Sgd* AsSgd(const Optimizer& optimizer) {
  return dynamic_cast<const Sgd*>(&optimizer);
}
const Adam* AsAdam(const Optimizer& optimizer) {
  return dynamic_cast<const Adam*>(&optimizer);
}

constexpr auto kElementBytes = static_cast<int64_t>(sizeof(float));

}  // namespace

bool CanUpdate(const Optimizer& optimizer) {
  return AsSgd(optimizer) != nullptr || AsAdam(optimizer) != nullptr;
}

float StepSizeOf(const Optimizer& optimizer, int64_t iterations) {
  const Adam* const adam = AsAdam(optimizer);
  return static_cast<float>(adam != nullptr
                                ? adam->StepSize(iterations)
                                : optimizer.LearningRate(iterations));
}

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
  GradientClip clip;
  if (optimizer_.clipping.value) {
    clip.bound = static_cast<float>(*optimizer_.clipping.value);
  }
  std::vector<const Tensor*> used;
  if (factor != nullptr) used.push_back(factor);
  const auto add = [&](auto update) {
    builder_.AddKernel(used, FourBlocks(range.count), [=]() mutable {
      if (factor != nullptr) update.clip.factor = factor->floats();
      return Kernel(update);
    });
  };
  if (const Sgd* const sgd = AsSgd(optimizer_); sgd != nullptr) {
    add(SgdUpdate{.count = range.count,
                  .values = values(range),
                  .gradients = gradients(range),
                  .momenta = sgd->momentum == 0 ? nullptr : slot(0, range),
                  .step = builder_.step(),
                  .momentum = static_cast<float>(sgd->momentum),
                  .nesterov = sgd->nesterov,
                  .clip = clip,
                  .loss_scale = state_.loss_scale()});
    return;
  }
  const Adam* const adam = AsAdam(optimizer_);
  CHECK(adam != nullptr) << optimizer_.class_name();
  add(AdamUpdate{.count = range.count,
                 .values = values(range),
                 .gradients = gradients(range),
                 .momenta = slot(0, range),
                 .velocities = slot(1, range),
                 .largest_velocities = adam->amsgrad ? slot(2, range) : nullptr,
                 .step = builder_.step(),
                 .one_minus_beta_1 = static_cast<float>(1 - adam->beta_1),
                 .one_minus_beta_2 = static_cast<float>(1 - adam->beta_2),
                 .epsilon = static_cast<float>(adam->epsilon),
                 .clip = clip,
                 .loss_scale = state_.loss_scale()});
}

}  // namespace paceline::cuda
