#include "worker/strategy/local_variables.h"

#include <algorithm>

#include "common/base/status_macros.h"
#include "glog/logging.h"
#include "worker/strategy/strategy.h"
#include "worker/strategy/typed_values.h"

namespace paceline {

LocalVariables::LocalVariables(const ShardPlan& plan,
                               const Optimizer& optimizer, ModelState& state)
    : plan_(plan), optimizer_(optimizer), state_(state) {
  CHECK_EQ(plan.shard_count(), 1);
  const size_t element_size = SizeOf(state.type());
  slots_.resize(optimizer.slot_names().size());
  for (auto& buckets : slots_) {
    for (const Bucket& bucket : plan.layout().buckets()) {
      const size_t bytes =
          bucket.is_trained() ? static_cast<size_t>(bucket.count) * element_size
                              : 0;
      buckets.emplace_back((bytes + sizeof(double) - 1) / sizeof(double));
    }
  }
  if (state.type() == DataType::kFloat64) {
    FillSlots<double>();
  } else {
    FillSlots<float>();
  }
}

template <typename T>
void LocalVariables::FillSlots() {
  for (int slot = 0; slot < slot_count(); ++slot) {
    const T value = static_cast<T>(optimizer_.slot_initial_value(slot));
    for (size_t b = 0; b < plan_.layout().buckets().size(); ++b) {
      const absl::Span<T> values = Values<T>(static_cast<int>(b), slot);
      std::fill(values.begin(), values.end(), value);
    }
  }
}

absl::Span<std::byte> LocalVariables::memory(int bucket, int slot) {
  if (slot < 0) return state_.host_variables(bucket);
  if (!plan_.layout().buckets()[bucket].is_trained()) return {};
  const size_t bytes =
      static_cast<size_t>(plan_.layout().buckets()[bucket].count) *
      SizeOf(state_.type());
  return {reinterpret_cast<std::byte*>(slots_[slot][bucket].data()), bytes};
}

void LocalVariables::Accumulate(int bucket, int64_t begin, int64_t count,
                                ModelState& gradients) {
  if (!plan_.layout().buckets()[bucket].is_trained()) return;
  if (state_.type() == DataType::kFloat64) {
    AccumulateTyped<double>(bucket, begin, count, gradients);
  } else {
    AccumulateTyped<float>(bucket, begin, count, gradients);
  }
}

template <typename T>
void LocalVariables::AccumulateTyped(int bucket, int64_t begin, int64_t count,
                                     ModelState& gradients) {
  const absl::Span<T> all = As<T>(gradients.host_gradients(bucket));
  optimizer_.Accumulate(optimizer_.StepAfter(iterations()),
                        all.subspan(begin, count),
                        SlotsOf<T>(bucket, begin, count));
}

void LocalVariables::Apply(int bucket, int64_t begin, int64_t count,
                           std::optional<double> learning_rate,
                           ModelState& gradients) {
  const UpdateStep step = optimizer_.StepAfter(iterations(), learning_rate);
  if (state_.type() == DataType::kFloat64) {
    ApplyTyped<double>(bucket, begin, count, step, gradients);
  } else {
    ApplyTyped<float>(bucket, begin, count, step, gradients);
  }
}

template <typename T>
void LocalVariables::ApplyTyped(int bucket, int64_t begin, int64_t count,
                                const UpdateStep& step, ModelState& gradients) {
  if (!plan_.layout().buckets()[bucket].is_trained() ||
      !updates_by_variable()) {
    return Update<T>(bucket, begin, count, step, /*variable=*/{}, gradients);
  }
  for (const Part& part : plan_.parts()) {
    if (part.bucket != bucket || part.bucket_offset < begin ||
        part.bucket_offset >= begin + count) {
      continue;
    }
    const VariableSpec& variable = plan_.layout().variables()[part.variable];
    Update<T>(bucket, part.bucket_offset, part.count, step,
              {variable.name, variable.shape}, gradients);
  }
}

template <typename T>
void LocalVariables::Update(int bucket, int64_t begin, int64_t count,
                            const UpdateStep& step,
                            const UpdatedVariable& variable,
                            ModelState& gradients) {
  const absl::Span<const std::byte> bytes = gradients.host_gradients(bucket);
  UpdateRange<T> range;
  range.values = Values<T>(bucket, -1).subspan(begin, count);
  range.gradients = {reinterpret_cast<const T*>(bytes.data()) + begin,
                     static_cast<size_t>(count)};
  if (!plan_.layout().buckets()[bucket].is_trained()) {
    return AddDeltas(range.gradients, range.values);
  }
  const Slots<T> slots = SlotsOf<T>(bucket, begin, count);
  range.slots = slots;
  range.variable = variable;
  optimizer_.Apply(step, range);
}

void LocalVariables::EndUpdate() {
  MutexLock lock(mutex_);
  ++iterations_;
}

int64_t LocalVariables::iterations() const {
  if (const DeviceUpdates* device = state_.device_updates()) {
    return device->iterations();
  }
  MutexLock lock(mutex_);
  return iterations_;
}

void LocalVariables::set_iterations(int64_t iterations) {
  if (DeviceUpdates* device = state_.device_updates()) {
    return device->set_iterations(iterations);
  }
  MutexLock lock(mutex_);
  iterations_ = iterations;
}

template <typename Copy>
absl::Status LocalVariables::ForEachSlot(Copy copy) {
  for (size_t b = 0; b < plan_.layout().buckets().size(); ++b) {
    if (!plan_.layout().buckets()[b].is_trained()) continue;
    const int bucket = static_cast<int>(b);
    for (int slot = 0; slot < slot_count(); ++slot) {
      RETURN_IF_ERROR(copy(bucket, slot, memory(bucket, slot)));
    }
  }
  return absl::OkStatus();
}

absl::Status LocalVariables::Upload(Stream& stream) {
  RETURN_IF_ERROR(UploadAll(plan_.layout(), state_, stream));
  DeviceUpdates* const device = state_.device_updates();
  if (device == nullptr) return absl::OkStatus();
  return ForEachSlot([&](int bucket, int slot, absl::Span<std::byte> memory) {
    return device->UploadSlot(bucket, slot, memory, stream);
  });
}

absl::Status LocalVariables::Download(Stream& stream) {
  DeviceUpdates* const device = state_.device_updates();
  if (device == nullptr) return absl::OkStatus();
  for (size_t bucket = 0; bucket < plan_.layout().buckets().size(); ++bucket) {
    RETURN_IF_ERROR(
        device->DownloadVariables(static_cast<int>(bucket), stream));
  }
  return ForEachSlot([&](int bucket, int slot, absl::Span<std::byte> memory) {
    return device->DownloadSlot(bucket, slot, memory, stream);
  });
}

absl::Status LocalVariables::SwapAverages(Stream& stream) {
  CHECK(optimizer_.use_ema);
  if (iterations() == 0) return absl::OkStatus();
  DeviceUpdates* const device = state_.device_updates();
  const int slot = slot_count() - 1;
  for (size_t b = 0; b < plan_.layout().buckets().size(); ++b) {
    if (!plan_.layout().buckets()[b].is_trained()) continue;
    const int bucket = static_cast<int>(b);
    const absl::Span<std::byte> averages = memory(bucket, slot);
    if (device != nullptr) {
      RETURN_IF_ERROR(device->DownloadVariables(bucket, stream));
      RETURN_IF_ERROR(device->DownloadSlot(bucket, slot, averages, stream));
    }
    const absl::Span<std::byte> variables = memory(bucket, -1);
    std::swap_ranges(variables.begin(), variables.end(), averages.begin());
    RETURN_IF_ERROR(state_.UploadVariables(bucket, stream));
    if (device != nullptr) {
      RETURN_IF_ERROR(device->UploadSlot(bucket, slot, averages, stream));
    }
  }
  return absl::OkStatus();
}

}  // namespace paceline
