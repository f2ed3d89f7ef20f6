#include "common/model/losses/categorical_crossentropy.h"

#include "common/config/field_table.h"
#include "common/model/losses/loss_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"
#include "common/operations/map.h"
#include "common/operations/reduce.h"
#include "common/operations/softmax.h"

namespace paceline {

const FieldTable<CategoricalCrossentropy>& CategoricalCrossentropy::Fields() {
  static const auto& table = *new FieldTable<CategoricalCrossentropy>(
      kClassName, "Cross-entropy of classes given by their probabilities.",
      LossFields<CategoricalCrossentropy>(
          {Optional("from_logits", &CategoricalCrossentropy::from_logits,
                    "Whether the output is logits."),
           Optional("label_smoothing",
                    &CategoricalCrossentropy::label_smoothing, Between(0, 1),
                    "Share of a label that is spread over the classes."),
           Only("axis", -1, "Axis of the classes.")}));
  return table;
}

absl::Status CategoricalCrossentropy::CheckOutput(const Shape& output) const {
  return CheckRank(output, 1);
}

op::Tensor CategoricalCrossentropy::Lower(const op::Tensor& input,
                                          const op::Tensor& labels,
                                          bool reads_from_logits) const {
  const std::vector<int> last = {input.rank() - 1};
  const auto classes = static_cast<double>(input.dimension(-1));
  const op::Tensor y =
      labels * (1 - label_smoothing) + label_smoothing / classes;
  const op::Tensor log_probabilities =
      reads_from_logits
          ? op::LogSoftmax(input)
          : op::Log(ClipProbabilities(input / op::Sum(input, last)));
  return MeanOfExamples(-op::Sum(y * log_probabilities, last));
}

}  // namespace paceline
