#include "common/model/losses/binary_crossentropy.h"

#include "common/config/field_table.h"
#include "common/model/losses/loss_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"
#include "common/operations/map.h"

namespace paceline {

const FieldTable<BinaryCrossentropy>& BinaryCrossentropy::Fields() {
  static const auto& table = *new FieldTable<BinaryCrossentropy>(
      kClassName, "Cross-entropy of independent yes or no.",
      LossFields<BinaryCrossentropy>(
          {Optional("from_logits", &BinaryCrossentropy::from_logits,
                    "Whether the output is logits."),
           Optional("label_smoothing", &BinaryCrossentropy::label_smoothing,
                    Between(0, 1),
                    "Share of a label that is spread over the classes."),
           Only("axis", -1, "Axis of the classes.")}));
  return table;
}

absl::Status BinaryCrossentropy::CheckOutput(const Shape& output) const {
  return CheckRank(output, 1);
}

op::Tensor BinaryCrossentropy::Lower(const op::Tensor& input,
                                     const op::Tensor& labels,
                                     bool reads_from_logits) const {
  const op::Tensor y = labels * (1 - label_smoothing) + label_smoothing / 2;
  if (reads_from_logits) {
    const op::Tensor softplus = op::Softplus(input);
    return MeanOfExamples(softplus - input * y);
  }
  const op::Tensor p = ClipProbabilities(input);
  const op::Tensor of_yes = y * op::Log(p);
  const op::Tensor log_of_no = op::Log(1 - p);
  const op::Tensor of_no = (1 - y) * log_of_no;
  return MeanOfExamples(-(of_yes + of_no));
}

}  // namespace paceline
