#include "common/model/layers/dropout.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"

namespace paceline {

const FieldTable<Dropout>& Dropout::Fields() {
  static const auto& table = *new FieldTable<Dropout>(
      kClassName, "Drops elements at random in training.",
      LayerFields<Dropout>(
          {Required("rate", &Dropout::rate, Within(0, 1),
                    "Share of elements that are dropped."),
           Optional("seed", &Dropout::seed, "Instead of the job's seed."),
           Only("noise_shape", nullptr, "Shape of the mask.")}));
  return table;
}

absl::StatusOr<Shape> Dropout::OutputShape(
    absl::Span<const Shape> inputs) const {
  return inputs[0];
}

}  // namespace paceline
