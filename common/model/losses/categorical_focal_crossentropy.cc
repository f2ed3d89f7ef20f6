#include "common/model/losses/categorical_focal_crossentropy.h"

#include "common/config/field_table.h"
#include "common/model/losses/crossentropy_fields.h"
#include "common/model/losses/loss_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/map.h"
#include "common/operations/reduce.h"
#include "common/operations/softmax.h"

namespace paceline {

const FieldTable<CategoricalFocalCrossentropy>&
CategoricalFocalCrossentropy::Fields() {
  using Self = CategoricalFocalCrossentropy;
  static const auto& table = *new FieldTable<CategoricalFocalCrossentropy>(
      kClassName,
      "Cross-entropy of classes in which certain examples count less.",
      LossFields<Self>(Joined<Self>(
          {CrossentropyFields<Self>(),
           {Optional("alpha", &Self::alpha, AtLeast(0), "Weight of the loss."),
            Optional("gamma", &Self::gamma, AtLeast(0),
                     "How much less certain examples count.")}})));
  return table;
}

op::Tensor CategoricalFocalCrossentropy::Lower(const op::Tensor& input,
                                               const op::Tensor& labels,
                                               bool reads_from_logits) const {
  const std::vector<int> last = {input.rank() - 1};
  const op::Tensor y = SmoothClasses(labels, label_smoothing);
  const op::Tensor output = reads_from_logits ? op::Softmax(input) : input;
  const op::Tensor p = ClipProbabilities(output / op::Sum(output, last));
  const op::Tensor crossentropy = -(y * op::Log(p));
  const op::Tensor doubt = 1 - p;
  const op::Tensor factor =
      op::Power(doubt, op::ConstantLike(doubt, gamma)) * alpha;
  return op::Sum(factor * crossentropy, last);
}

}  // namespace paceline
