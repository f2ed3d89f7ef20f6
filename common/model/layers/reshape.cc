#include "common/model/layers/reshape.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/operations/reshape.h"

namespace paceline {

const FieldTable<Reshape>& Reshape::Fields() {
  static const auto& table = *new FieldTable<Reshape>(
      kClassName, "Another shape for the same elements.",
      LayerFields<Reshape>(
          {Required("target_shape", &Reshape::target_shape, AtLeast(-1),
                    "Of one example; one -1 stands for what remains.")}));
  return table;
}

absl::StatusOr<Shape> Reshape::OutputShape(
    absl::Span<const Shape> inputs) const {
  const int64_t elements = NumElements(inputs[0]);
  // The size of the dimension -1; 0 if the known dimensions do not divide the
  // elements.
  int64_t rest = elements;
  int open_dimensions = 0;
  for (const int64_t dimension : target_shape) {
    if (dimension == -1) {
      ++open_dimensions;
    } else {
      rest = dimension > 0 && rest % dimension == 0 ? rest / dimension : 0;
    }
  }
  if (open_dimensions > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "target_shape ", ShapeToString(target_shape), " has more than one -1"));
  }
  if (rest == 0 || (open_dimensions == 0 && rest != 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the ", elements, " elements of input shape ", ShapeToString(inputs[0]),
        " do not fit target_shape ", ShapeToString(target_shape)));
  }
  Shape output = target_shape;
  std::replace(output.begin(), output.end(), int64_t{-1}, rest);
  return output;
}

LoweredLayer Reshape::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  const Shape example(x.shape().begin() + 1, x.shape().end());
  Shape shape = *OutputShape({example});
  shape.insert(shape.begin(), x.dimension(0));
  return op::Reshape(x, shape);
}

}  // namespace paceline
