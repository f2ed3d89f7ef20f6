// A loss and a metric with an operation that only the reference device has
// for float32.
#ifndef PACELINE_TESTS_UNIT_DEVICE_REPLICATED_LABELS_H_
#define PACELINE_TESTS_UNIT_DEVICE_REPLICATED_LABELS_H_

#include "absl/strings/string_view.h"
#include "common/model/losses/mean_squared_error.h"
#include "common/model/metrics/binary_accuracy.h"
#include "common/operations/function.h"
#include "common/operations/sum_over_replicas.h"

namespace paceline {

class ReplicatedLoss final : public MeanSquaredError {
 public:
  absl::string_view class_name() const override { return "ReplicatedLoss"; }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool from_logits) const override {
    return MeanSquaredError::Lower(input, op::SumOverReplicas(labels),
                                   from_logits);
  }
};

class ReplicatedAccuracy final : public BinaryAccuracy {
 public:
  ReplicatedAccuracy() { name = "accuracy"; }
  absl::string_view class_name() const override { return "ReplicatedAccuracy"; }
  op::Tensor Lower(const op::Tensor& output,
                   const op::Tensor& labels) const override {
    return BinaryAccuracy::Lower(output, op::SumOverReplicas(labels));
  }
};

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_DEVICE_REPLICATED_LABELS_H_
