#include "common/model/metrics/sum_over_batch.h"

#include "absl/strings/str_cat.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"

namespace paceline {

absl::Status CheckRow(const Shape& output) {
  if (output.size() == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the model's output must be a row of shape (outputs), got ",
                   ShapeToString(output)));
}

op::Tensor SumOverBatch(const op::Tensor& x) {
  return op::Reshape(op::Sum(x, {0}), {x.dimension(1)});
}

}  // namespace paceline
