#include "common/model/layers/relu.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"

namespace paceline {

const FieldTable<ReLU>& ReLU::Fields() {
  static const auto& table = *new FieldTable<ReLU>(
      kClassName, "Rectifier with a bend, a slope and a ceiling.",
      LayerFields<ReLU>({Optional("max_value", &ReLU::max_value, AtLeast(0),
                                  "Ceiling; null: none."),
                         Optional("negative_slope", &ReLU::negative_slope,
                                  AtLeast(0), "Slope below the threshold."),
                         Optional("threshold", &ReLU::threshold, AtLeast(0),
                                  "Where the bend is.")}));
  return table;
}

absl::StatusOr<Shape> ReLU::OutputShape(absl::Span<const Shape> inputs) const {
  return inputs[0];
}

// Keras has one operation for a slope alone, else adds up that of each side,
// which is 0 at the bend.
double ReLU::derivative_at_threshold() const {
  return max_value || threshold != 0 ? 0 : negative_slope;
}

}  // namespace paceline
