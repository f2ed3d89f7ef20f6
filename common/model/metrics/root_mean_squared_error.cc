#include "common/model/metrics/root_mean_squared_error.h"

#include <cmath>

#include "common/config/field_table.h"
#include "common/model/masked_mean.h"
#include "common/model/metrics/metric_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/concatenate.h"
#include "common/operations/constant.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"

namespace paceline {

const FieldTable<RootMeanSquaredError>& RootMeanSquaredError::Fields() {
  static const auto& table = *new FieldTable<RootMeanSquaredError>(
      kClassName, "Root of the mean of (output - label)².",
      MetricFields<RootMeanSquaredError>({}));
  return table;
}

op::Tensor RootMeanSquaredError::Lower(const op::Tensor& output,
                                       const op::Tensor& labels) const {
  const op::Tensor error = output - labels;
  const op::Tensor sum = op::SumAll(MeanOfExamples(error * error));
  const op::Tensor count =
      op::Constants(output.function(), output.data_type(),
                    {static_cast<double>(output.dimension(0))});
  return op::Concatenate({op::Reshape(sum, {1}), count}, 0);
}

double RootMeanSquaredError::Result(absl::Span<const double> state) const {
  return state[1] == 0 ? 0 : std::sqrt(state[0] / state[1]);
}

}  // namespace paceline
