#include "common/model/layers/repeat_vector.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/window.h"
#include "common/operations/broadcast.h"
#include "common/operations/reshape.h"

namespace paceline {

const FieldTable<RepeatVector>& RepeatVector::Fields() {
  static const auto& table = *new FieldTable<RepeatVector>(
      kClassName, "A vector, repeated as the steps of a sequence.",
      LayerFields<RepeatVector>(
          {Required("n", &RepeatVector::n, Between(1, kMaxWindow),
                    "How often it is repeated.")}));
  return table;
}

absl::StatusOr<Shape> RepeatVector::OutputShape(
    absl::Span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  if (input.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "input must have shape (features), got ", ShapeToString(input)));
  }
  return Shape{n, input[0]};
}

LoweredLayer RepeatVector::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  const int64_t batch_size = x.dimension(0);
  const int64_t features = x.dimension(1);
  return op::Broadcast(op::Reshape(x, {batch_size, 1, features}),
                       {batch_size, n, features});
}

}  // namespace paceline
