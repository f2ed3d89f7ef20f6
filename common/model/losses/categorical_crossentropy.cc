#include "common/model/losses/categorical_crossentropy.h"

#include "common/config/field_table.h"
#include "common/model/losses/crossentropy_fields.h"
#include "common/model/losses/loss_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/map.h"
#include "common/operations/reduce.h"
#include "common/operations/softmax.h"

namespace paceline {

const FieldTable<CategoricalCrossentropy>& CategoricalCrossentropy::Fields() {
  static const auto& table = *new FieldTable<CategoricalCrossentropy>(
      kClassName, "Cross-entropy of classes given by their probabilities.",
      LossFields<CategoricalCrossentropy>(
          CrossentropyFields<CategoricalCrossentropy>()));
  return table;
}

op::Tensor CategoricalCrossentropy::Lower(const op::Tensor& input,
                                          const op::Tensor& labels,
                                          bool reads_from_logits) const {
  const std::vector<int> last = {input.rank() - 1};
  const op::Tensor y = SmoothClasses(labels, label_smoothing);
  const op::Tensor log_probabilities =
      reads_from_logits
          ? op::LogSoftmax(input)
          : op::Log(ClipProbabilities(input / op::Sum(input, last)));
  return -op::Sum(y * log_probabilities, last);
}

}  // namespace paceline
