#include "common/model/losses/sparse_categorical_crossentropy.h"

#include <utility>
#include <vector>

#include "common/config/field_table.h"
#include "common/model/losses/loss_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"
#include "common/operations/cast.h"
#include "common/operations/class_ids.h"
#include "common/operations/constant.h"
#include "common/operations/map.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "common/operations/select.h"
#include "common/operations/softmax.h"

namespace paceline {

namespace {

// Of labels (...), whether they are of the class; bool, (..., 1).
op::Tensor IsIgnored(const op::Tensor& labels, int64_t ignored, DataType type) {
  Shape rows = labels.shape();
  rows.push_back(1);
  return op::IsId(op::Reshape(labels, std::move(rows)), ignored, type);
}

}  // namespace

const FieldTable<SparseCategoricalCrossentropy>&
SparseCategoricalCrossentropy::Fields() {
  static const auto& table = *new FieldTable<SparseCategoricalCrossentropy>(
      kClassName, "Cross-entropy of classes given by their ids.",
      LossFields<SparseCategoricalCrossentropy>(
          {Optional("from_logits", &SparseCategoricalCrossentropy::from_logits,
                    "Whether the output is logits."),
           Optional("ignore_class",
                    &SparseCategoricalCrossentropy::ignore_class,
                    Between(-op::kMaxClasses, op::kMaxClasses),
                    "Class whose labels do not count. It may be none of the "
                    "output's, such as -1 or 255."),
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
  const DataType type = input.data_type();
  const std::vector<int> last = {input.rank() - 1};
  const auto of_label = [&](const op::Tensor& x) {
    const op::Tensor zero = op::ConstantLike(x, 0);
    return op::Sum(
        op::Select(op::IsClass(labels, x.dimension(-1), type), x, zero), last);
  };
  // `losses` where labels count. These and `losses` have a last axis of 1.
  const auto counted = [&](const op::Tensor& losses) {
    if (!ignore_class) return losses;
    return op::Select(IsIgnored(labels, *ignore_class, type),
                      op::ConstantLike(losses, 0), losses);
  };
  if (reads_from_logits) {
    return counted(of_label(-op::LogSoftmax(input)));
  }
  const op::Tensor p = ClipProbabilities(input);
  const op::Tensor log_of_sum = op::Log(op::Sum(p, last));
  op::Tensor p_of_label = of_label(p);
  if (ignore_class) {
    // An ignored label may be no class, of which a logarithm would be infinite.
    p_of_label =
        p_of_label + op::Cast(IsIgnored(labels, *ignore_class, type), type);
  }
  return counted(log_of_sum - op::Log(p_of_label));
}

}  // namespace paceline
