#include "common/model/layers/up_sampling1d.h"

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/layers/sequence.h"
#include "common/model/shape_rule.h"
#include "common/model/window.h"
#include "common/operations/resize.h"

namespace paceline {

const FieldTable<UpSampling1D>& UpSampling1D::Fields() {
  static const auto& table = *new FieldTable<UpSampling1D>(
      kClassName, "Longer sequences.",
      LayerFields<UpSampling1D>(
          {Optional("size", &UpSampling1D::size, Between(1, kMaxWindow),
                    "How often each step is repeated.")}));
  return table;
}

absl::StatusOr<Shape> UpSampling1D::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckSequence(inputs[0]));
  return Shape{size * inputs[0][0], inputs[0][1]};
}

LoweredLayer UpSampling1D::Lower(const LayerCall& call) const {
  const op::Tensor images = ToImages<1>(call.inputs[0]);
  return FromImages<1>(op::Resize(images, op::ResizeMode::kNearest,
                                  {1, size * images.dimension(2)}));
}

}  // namespace paceline
