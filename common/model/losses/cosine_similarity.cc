#include "common/model/losses/cosine_similarity.h"

#include "common/config/field_table.h"
#include "common/model/l2_normalized.h"
#include "common/model/losses/loss_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"
#include "common/operations/reduce.h"

namespace paceline {

// As of Huber's delta, Keras' get_config() omits the axis.
const FieldTable<CosineSimilarity>& CosineSimilarity::Fields() {
  static const auto& table = *new FieldTable<CosineSimilarity>(
      kClassName, "Minus the cosine between output and label.",
      LossFields<CosineSimilarity>({WrittenUnlessDefault<CosineSimilarity>(
          Optional("axis", &CosineSimilarity::axis, "Axis of the vectors."))}));
  return table;
}

absl::Status CosineSimilarity::CheckOutput(const Shape& output) const {
  return CheckAxis(axis, output);
}

op::Tensor CosineSimilarity::Lower(const op::Tensor& input,
                                   const op::Tensor& labels,
                                   bool /*from_logits*/) const {
  return -CosineSimilarities(input, labels, axis);
}

op::Tensor CosineSimilarities(const op::Tensor& input, const op::Tensor& labels,
                              int64_t axis) {
  const int along =
      1 + ExampleAxis(axis, static_cast<size_t>(input.rank() - 1));
  const op::Tensor p = L2Normalized(input, along);
  return op::Sum(L2Normalized(labels, along) * p, {along});
}

}  // namespace paceline
