#include "common/model/layers/activity_regularization.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"

namespace paceline {

const FieldTable<ActivityRegularization>& ActivityRegularization::Fields() {
  using Self = ActivityRegularization;
  static const auto& table = *new FieldTable<Self>(
      kClassName,
      "Adds the mean over examples of l1 · Σ|x| + l2 · Σx² to the loss; the "
      "output is x.",
      UnpenalizedLayerFields<Self>(
          {Optional("l1", &Self::l1, AtLeast(0), "Factor of Σ|x|."),
           Optional("l2", &Self::l2, AtLeast(0), "Factor of Σx².")}));
  return table;
}

absl::StatusOr<Shape> ActivityRegularization::OutputShape(
    absl::Span<const Shape> inputs) const {
  return inputs[0];
}

LoweredLayer ActivityRegularization::Lower(const LayerCall& call) const {
  return call.inputs[0];
}

}  // namespace paceline
