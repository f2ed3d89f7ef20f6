#include "common/model/losses/sparse_categorical_crossentropy.h"

#include "common/config/field_table.h"
#include "common/model/losses/loss_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"
#include "common/operations/class_ids.h"
#include "common/operations/constant.h"
#include "common/operations/map.h"
#include "common/operations/reduce.h"
#include "common/operations/select.h"
#include "common/operations/softmax.h"

namespace paceline {

const FieldTable<SparseCategoricalCrossentropy>&
SparseCategoricalCrossentropy::Fields() {
  static const auto& table = *new FieldTable<SparseCategoricalCrossentropy>(
      kClassName, "Cross-entropy of classes given by their ids.",
      LossFields<SparseCategoricalCrossentropy>(
          {Optional("from_logits", &SparseCategoricalCrossentropy::from_logits,
                    "Whether the output is logits."),
           Only("ignore_class", nullptr, "Class that does not count."),
           NotWritten(Only("axis", -1, "Axis of the classes."))}));
  return table;
}

absl::Status SparseCategoricalCrossentropy::CheckOutput(
    const Shape& output) const {
  return CheckClasses(output);
}

op::Tensor SparseCategoricalCrossentropy::Lower(const op::Tensor& input,
                                                const op::Tensor& labels,
                                                bool reads_from_logits) const {
  const std::vector<int> last = {1};
  const auto of_label = [&](const op::Tensor& x) {
    const op::Tensor zero = op::ConstantLike(x, 0);
    return op::Sum(
        op::Select(op::IsClass(labels, x.dimension(1), x.data_type()), x, zero),
        last);
  };
  if (reads_from_logits) {
    return of_label(-op::LogSoftmax(input));
  }
  const op::Tensor p = ClipProbabilities(input);
  const op::Tensor log_of_sum = op::Log(op::Sum(p, last));
  return log_of_sum - op::Log(of_label(p));
}

}  // namespace paceline
