#include "common/model/metrics/root_mean_squared_error.h"

#include <cmath>

#include "common/config/field_table.h"
#include "common/model/masked_mean.h"
#include "common/model/metrics/metric_fields.h"
#include "common/operations/binary_map.h"

namespace paceline {

const FieldTable<RootMeanSquaredError>& RootMeanSquaredError::Fields() {
  static const auto& table = *new FieldTable<RootMeanSquaredError>(
      kClassName, "Root of the mean of (output - label)².",
      MetricFields<RootMeanSquaredError>({}));
  return table;
}

op::Tensor RootMeanSquaredError::LowerState(
    const op::Tensor& output, const op::Tensor& labels,
    const std::optional<op::Tensor>& weights) const {
  const op::Tensor error = output - labels;
  return MeanState(error * error, /*mask=*/std::nullopt, weights);
}

double RootMeanSquaredError::Result(absl::Span<const double> state) const {
  return state[1] == 0 ? 0 : std::sqrt(state[0] / state[1]);
}

}  // namespace paceline
