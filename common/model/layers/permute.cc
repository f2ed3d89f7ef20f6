#include "common/model/layers/permute.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/transpose.h"

namespace paceline {

const FieldTable<Permute>& Permute::Fields() {
  static const auto& table = *new FieldTable<Permute>(
      kClassName, "Axes in another order.",
      LayerFields<Permute>(
          {Required("dims", &Permute::dims, AtLeast(1),
                    "The input's axes, from 1, in the order of the output.")}));
  return table;
}

absl::StatusOr<Shape> Permute::OutputShape(
    absl::Span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  ASSIGN_OR_RETURN(const std::vector<int> axes, ExampleAxes(dims, input));
  if (axes.size() != input.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "dims [", absl::StrJoin(dims, ", "),
        "] must name each axis of input shape ", ShapeToString(input)));
  }
  Shape output;
  for (const int64_t axis : dims) output.push_back(input[axis - 1]);
  return output;
}

LoweredLayer Permute::Lower(const LayerCall& call) const {
  // The batch stays in front.
  std::vector<int> permutation = {0};
  permutation.insert(permutation.end(), dims.begin(), dims.end());
  return op::Transpose(call.inputs[0], std::move(permutation));
}

}  // namespace paceline
