// Sums over the axes that a loss of segmentations names.
#ifndef PACELINE_COMMON_MODEL_LOSSES_AXIS_SUMS_H_
#define PACELINE_COMMON_MODEL_LOSSES_AXIS_SUMS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

// "axis" of loss L.
template <typename L>
Field<L> SumAxisField() {
  return WrittenUnlessDefault<L>(
      Optional("axis", &L::axis,
               "What its sums go over; the batch is 0; null: everything."));
}

// InvalidArgument unless each is an axis of the batch of an output, once.
absl::Status CheckSumAxes(const std::optional<AxisList>& axes,
                          const Shape& output);

class AxisSums {
 public:
  // Of tensors of the shape of `input`, (batch, ...).
  AxisSums(const std::optional<AxisList>& axes, const op::Tensor& input);

  // The sum over the axes, which become 1.
  op::Tensor Of(const op::Tensor& x) const;
  // From values of the shape of a sum to their mean over all axes but the
  // batch, of shape (batch). A sum over the batch is the loss of each example.
  op::Tensor LossOf(const op::Tensor& values) const;

 private:
  std::vector<int> axes_;
  int64_t batch_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_AXIS_SUMS_H_
