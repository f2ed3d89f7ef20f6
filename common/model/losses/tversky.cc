#include "common/model/losses/tversky.h"

#include "common/config/field_table.h"
#include "common/model/losses/axis_sums.h"
#include "common/model/losses/loss_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/reduce.h"

namespace paceline {

const FieldTable<Tversky>& Tversky::Fields() {
  static const auto& table = *new FieldTable<Tversky>(
      kClassName, "One minus the overlap in it and weighted errors.",
      LossFields<Tversky>({Optional("alpha", &Tversky::alpha, AtLeast(0),
                                    "Weight of what the output misses."),
                           Optional("beta", &Tversky::beta, AtLeast(0),
                                    "Weight of what it has too much."),
                           SumAxisField<Tversky>()}));
  return table;
}

absl::Status Tversky::CheckOutput(const Shape& output) const {
  return CheckSumAxes(axis, output);
}

op::Tensor Tversky::Lower(const op::Tensor& input, const op::Tensor& labels,
                          bool /*from_logits*/) const {
  const AxisSums sums(axis, input);
  const op::Tensor overlap = sums.Of(labels * input);
  const op::Tensor missed = sums.Of((1 - input) * labels);
  const op::Tensor wrong = sums.Of((1 - labels) * input);
  const op::Tensor weighted = missed * alpha;
  const op::Tensor errors = weighted + wrong * beta;
  const op::Tensor size = overlap + errors + kEpsilon;
  return sums.LossOf(1 - overlap / size);
}

}  // namespace paceline
