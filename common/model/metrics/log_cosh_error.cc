#include "common/model/metrics/log_cosh_error.h"

#include "common/config/field_table.h"
#include "common/model/losses/log_cosh.h"
#include "common/model/metrics/metric_fields.h"

namespace paceline {

const FieldTable<LogCoshError>& LogCoshError::Fields() {
  static const auto& table = *new FieldTable<LogCoshError>(
      kClassName, "Mean of log(cosh(output - label)).",
      MetricFields<LogCoshError>({}));
  return table;
}

op::Tensor LogCoshError::Lower(const op::Tensor& output,
                               const op::Tensor& labels) const {
  return LogCosh().Lower(output, labels, /*from_logits=*/false);
}

}  // namespace paceline
