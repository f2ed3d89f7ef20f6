// Sums of each output over a batch, for metrics of a row of outputs.
#ifndef PACELINE_COMMON_MODEL_METRICS_SUM_OVER_BATCH_H_
#define PACELINE_COMMON_MODEL_METRICS_SUM_OVER_BATCH_H_

#include "absl/status/status.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

// InvalidArgument unless a model's output (without the batch axis) is a row.
absl::Status CheckRow(const Shape& output);

// From (batch, outputs) to (outputs).
op::Tensor SumOverBatch(const op::Tensor& x);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_SUM_OVER_BATCH_H_
