#include "common/model/layers/up_sampling2d.h"

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/model/window.h"
#include "common/operations/resize.h"

namespace paceline {

absl::Span<const EnumName<UpSamplingInterpolation>> EnumNames(
    UpSamplingInterpolation) {
  static constexpr EnumName<UpSamplingInterpolation> kNames[] = {
      {UpSamplingInterpolation::kNearest, "nearest"},
      {UpSamplingInterpolation::kBilinear, "bilinear"}};
  return kNames;
}

const FieldTable<UpSampling2D>& UpSampling2D::Fields() {
  static const auto& table = *new FieldTable<UpSampling2D>(
      kClassName, "Larger images.",
      LayerFields<UpSampling2D>(
          {Optional("size", &UpSampling2D::size, Between(1, kMaxWindow),
                    "Factors of height and width."),
           Only("data_format", "channels_last", "Layout of images."),
           Optional("interpolation", &UpSampling2D::interpolation,
                    "How pixels are found between others.")}));
  return table;
}

absl::StatusOr<Shape> UpSampling2D::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckImage(inputs[0]));
  return Shape{inputs[0][0] * size[0], inputs[0][1] * size[1], inputs[0][2]};
}

LoweredLayer UpSampling2D::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  const auto mode = interpolation == UpSamplingInterpolation::kNearest
                        ? op::ResizeMode::kNearest
                        : op::ResizeMode::kBilinear;
  return op::Resize(x, mode,
                    {x.dimension(1) * size[0], x.dimension(2) * size[1]});
}

}  // namespace paceline
