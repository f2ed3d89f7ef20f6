#include "common/model/losses/mean_squared_error.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"

namespace paceline {

const FieldTable<MeanSquaredError>& MeanSquaredError::Fields() {
  static const auto& table = *new FieldTable<MeanSquaredError>(
      kClassName, "Mean of (output - label)².",
      {Ignored("name", "Name."), ReductionField(), DtypeField()});
  return table;
}

absl::Status MeanSquaredError::CheckOutput(const Shape& output) const {
  return CheckRank(output, 1);
}

}  // namespace paceline
