#include "common/model/losses/binary_focal_crossentropy.h"

#include "common/config/field_table.h"
#include "common/model/losses/binary_crossentropy.h"
#include "common/model/losses/crossentropy_fields.h"
#include "common/model/losses/loss_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/map.h"

namespace paceline {

const FieldTable<BinaryFocalCrossentropy>& BinaryFocalCrossentropy::Fields() {
  using Self = BinaryFocalCrossentropy;
  static const auto& table = *new FieldTable<BinaryFocalCrossentropy>(
      kClassName, "Binary cross-entropy in which certain elements count less.",
      LossFields<Self>(Joined<Self>(
          {CrossentropyFields<Self>(),
           {Optional("apply_class_balancing", &Self::apply_class_balancing,
                     "Whether yes counts alpha, and no 1 - alpha."),
            Optional("alpha", &Self::alpha, Between(0, 1),
                     "The weight of yes."),
            Optional("gamma", &Self::gamma, AtLeast(0),
                     "How much less certain elements count.")}})));
  return table;
}

op::Tensor BinaryFocalCrossentropy::Lower(const op::Tensor& input,
                                          const op::Tensor& labels,
                                          bool reads_from_logits) const {
  const op::Tensor y = SmoothBits(labels, label_smoothing);
  const op::Tensor crossentropy =
      BinaryCrossentropies(input, y, reads_from_logits);
  const op::Tensor p = reads_from_logits ? op::Sigmoid(input) : input;
  const op::Tensor of_yes = y * p;
  const op::Tensor p_of_no = 1 - p;
  const op::Tensor of_no = (1 - y) * p_of_no;
  const op::Tensor doubt = 1 - (of_yes + of_no);
  op::Tensor loss =
      op::Power(doubt, op::ConstantLike(doubt, gamma)) * crossentropy;
  if (apply_class_balancing) {
    const op::Tensor weight_of_no = (1 - y) * (1 - alpha);
    loss = (y * alpha + weight_of_no) * loss;
  }
  return loss;
}

}  // namespace paceline
