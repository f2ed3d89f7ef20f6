// A loss and a metric with operations that only the reference device has.
#ifndef PACELINE_TESTS_UNIT_DEVICE_REVERSED_LABELS_H_
#define PACELINE_TESTS_UNIT_DEVICE_REVERSED_LABELS_H_

#include "absl/strings/string_view.h"
#include "common/model/losses/mean_squared_error.h"
#include "common/model/metrics/binary_accuracy.h"
#include "common/operations/function.h"
#include "common/operations/reverse.h"

namespace paceline {

class ReversedLoss final : public MeanSquaredError {
 public:
  absl::string_view class_name() const override { return "ReversedLoss"; }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool from_logits) const override {
    return MeanSquaredError::Lower(input, op::Reverse(labels, 1), from_logits);
  }
};

class ReversedAccuracy final : public BinaryAccuracy {
 public:
  ReversedAccuracy() { name = "accuracy"; }
  absl::string_view class_name() const override { return "ReversedAccuracy"; }
  op::Tensor Lower(const op::Tensor& output,
                   const op::Tensor& labels) const override {
    return BinaryAccuracy::Lower(output, op::Reverse(labels, 1));
  }
};

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_DEVICE_REVERSED_LABELS_H_
