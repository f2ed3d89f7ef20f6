#include "common/model/layers/activity_penalty.h"

#include <cstdint>
#include <optional>

#include "common/operations/binary_map.h"
#include "common/operations/map.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "glog/logging.h"

namespace paceline {

absl::StatusOr<Shape> ActivityPenalty::OutputShape(
    absl::Span<const Shape> /*inputs*/) const {
  return Shape();
}

LoweredLayer ActivityPenalty::Lower(const LayerCall& call) const {
  CHECK(!regularizer_.is_zero()) << name;
  const Shape shape = call.inputs[0].shape();
  const int64_t batch = shape[0];
  const op::Tensor x =
      op::Reshape(call.inputs[0],
                  {batch, NumElements(absl::MakeConstSpan(shape).subspan(1))});
  std::optional<op::Tensor> of_elements;
  if (regularizer_.l1 != 0) of_elements = op::Abs(x) * regularizer_.l1;
  if (regularizer_.l2 != 0) {
    const op::Tensor squares = x * x * regularizer_.l2;
    of_elements = of_elements ? *of_elements + squares : squares;
  }
  return op::Reshape(op::Sum(*of_elements, {1}), {batch});
}

}  // namespace paceline
