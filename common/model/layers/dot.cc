#include "common/model/layers/dot.h"

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/l2_normalized.h"
#include "common/model/shape_rule.h"
#include "common/operations/matrix_product.h"
#include "common/operations/reshape.h"
#include "common/operations/transpose.h"

namespace paceline {
namespace {

// (batch, ...) with an axis moved to the end and the others joined: (batch,
// rest, n).
op::Tensor RowsAlong(const op::Tensor& x, int axis) {
  std::vector<int> order;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis) order.push_back(i);
  }
  order.push_back(axis);
  const int64_t batch = x.dimension(0);
  const int64_t size = x.dimension(axis);
  return op::Reshape(op::Transpose(x, order),
                     {batch, x.count() / (batch * size), size});
}

}  // namespace

const FieldTable<Dot>& Dot::Fields() {
  static const auto& table = *new FieldTable<Dot>(
      kClassName, "Sums of products of its two inputs along an axis.",
      LayerFields<Dot>(
          {Required("axes", &Dot::axes,
                    "The axis, or that of each input. Counts the batch as 0, "
                    "or from the end."),
           Optional("normalize", &Dot::normalize,
                    "Whether inputs are divided by their norm along it.")}));
  return table;
}

int Dot::AxisOf(int input, size_t rank) const {
  return ExampleAxis(axes.size() == 1 ? axes[0] : axes[input], rank);
}

absl::StatusOr<Shape> Dot::OutputShape(absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckTwoInputs(inputs));
  if (axes.empty() || axes.size() > 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("axes must be 1 or 2 numbers, got ", axes.size()));
  }
  Shape output;
  int64_t sizes[2] = {};
  for (int i = 0; i < 2; ++i) {
    const Shape& input = inputs[i];
    RETURN_IF_ERROR(CheckAxis(axes.size() == 1 ? axes[0] : axes[i], input));
    const int axis = AxisOf(i, input.size());
    sizes[i] = input[axis];
    for (int k = 0; k < static_cast<int>(input.size()); ++k) {
      if (k != axis) output.push_back(input[k]);
    }
  }
  if (sizes[0] != sizes[1]) {
    return absl::InvalidArgumentError(absl::StrCat(
        "inputs must have the same size along their axes, got ",
        ShapeToString(inputs[0]), " and ", ShapeToString(inputs[1])));
  }
  if (output.empty()) output.push_back(1);
  return output;
}

LoweredLayer Dot::Lower(const LayerCall& call) const {
  std::vector<op::Tensor> rows;
  Shape shape = {call.inputs[0].dimension(0)};
  for (int i = 0; i < 2; ++i) {
    const op::Tensor& x = call.inputs[i];
    const int axis = 1 + AxisOf(i, x.shape().size() - 1);
    rows.push_back(RowsAlong(normalize ? L2Normalized(x, axis) : x, axis));
    for (int k = 1; k < x.rank(); ++k) {
      if (k != axis) shape.push_back(x.dimension(k));
    }
  }
  if (shape.size() == 1) shape.push_back(1);
  return op::Reshape(
      op::MatrixProduct(rows[0], rows[1], /*left_is_transposed=*/false,
                        /*right_is_transposed=*/true),
      shape);
}

}  // namespace paceline
