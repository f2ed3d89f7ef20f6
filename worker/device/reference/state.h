// Variables, gradients and metric sums of a model on the reference device.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_STATE_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_STATE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/model/graph.h"
#include "common/sharding/bucket_layout.h"
#include "common/tensor/shape.h"
#include "worker/device/bucket_memory.h"
#include "worker/device/device.h"

namespace paceline::reference {

template <typename T>
class State : public ModelState {
 public:
  // `gradient_memory`: see ProgramSpec.
  State(const BucketLayout& layout, size_t metric_state_size,
        absl::Span<std::byte> gradient_memory) {
    for (const Bucket& bucket : layout.buckets()) {
      variables_.emplace_back(static_cast<size_t>(bucket.count));
    }
    if (gradient_memory.empty()) {
      own_gradients_.resize(GradientBytes(layout, type()) / sizeof(T));
      gradient_memory = BytesOf(own_gradients_);
    }
    gradients_ =
        LayOutBuckets(layout.updated_buckets(), type(), gradient_memory);
    sums_.states.resize(metric_state_size);
  }

  DataType type() const override { return DataTypeOf<T>::kValue; }
  absl::Span<std::byte> host_variables(int bucket) override {
    return BytesOf(variables_[bucket]);
  }
  absl::Span<std::byte> host_gradients(int bucket) override {
    return gradients_[bucket];
  }
  absl::Status UploadVariables(int /*bucket*/, Stream& /*stream*/) override {
    return absl::OkStatus();
  }

  absl::Status TakeMetrics(Stream& /*stream*/, MetricSums& sums) override {
    sums.Add(sums_);
    sums_.Reset();
    return absl::OkStatus();
  }

  // Adds to a number in the metric states, in the layout of MetricLayout.
  void AddToState(size_t offset, double value) {
    sums_.states[offset] += value;
  }
  // See MetricSums::NoteLoss.
  void NoteLoss(int64_t step) { sums_.NoteLoss(step); }

  // The variable's value in its bucket, and its gradient, if it is not frozen.
  const T* value(VariableLocation location) const {
    return &variables_[location.bucket][location.offset];
  }
  T* gradient(VariableLocation location) {
    return reinterpret_cast<T*>(gradients_[location.bucket].data()) +
           location.offset;
  }

 private:
  static absl::Span<std::byte> BytesOf(std::vector<T>& values) {
    return {reinterpret_cast<std::byte*>(values.data()),
            values.size() * sizeof(T)};
  }

  // By bucket.
  std::vector<std::vector<T>> variables_;
  std::vector<absl::Span<std::byte>> gradients_;
  std::vector<T> own_gradients_;
  MetricSums sums_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_STATE_H_
