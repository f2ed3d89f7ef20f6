#include "common/model/losses/binary_crossentropy.h"

#include "common/config/field_table.h"
#include "common/model/losses/crossentropy_fields.h"
#include "common/model/losses/loss_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/map.h"

namespace paceline {

const FieldTable<BinaryCrossentropy>& BinaryCrossentropy::Fields() {
  static const auto& table = *new FieldTable<BinaryCrossentropy>(
      kClassName, "Cross-entropy of independent yes or no.",
      LossFields<BinaryCrossentropy>(CrossentropyFields<BinaryCrossentropy>()));
  return table;
}

op::Tensor BinaryCrossentropy::Lower(const op::Tensor& input,
                                     const op::Tensor& labels,
                                     bool reads_from_logits) const {
  const op::Tensor y = SmoothBits(labels, label_smoothing);
  return BinaryCrossentropies(input, y, reads_from_logits);
}

op::Tensor BinaryCrossentropies(const op::Tensor& input,
                                const op::Tensor& labels, bool from_logits) {
  if (from_logits) {
    const op::Tensor softplus = op::Softplus(input);
    return softplus - input * labels;
  }
  const op::Tensor p = ClipProbabilities(input);
  const op::Tensor of_yes = labels * op::Log(p);
  const op::Tensor log_of_no = op::Log(1 - p);
  const op::Tensor of_no = (1 - labels) * log_of_no;
  return -(of_yes + of_no);
}

}  // namespace paceline
