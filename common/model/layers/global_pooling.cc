#include "common/model/layers/global_pooling.h"

#include <numeric>
#include <utility>

#include "common/base/status_macros.h"
#include "common/operations/reshape.h"

namespace paceline {

absl::StatusOr<Shape> GlobalPooling::OutputShape(
    absl::Span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  RETURN_IF_ERROR(CheckInput(input));
  if (!keepdims) return Shape{input.back()};
  Shape output(input.size(), 1);
  output.back() = input.back();
  return output;
}

LoweredLayer GlobalPooling::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  std::vector<int> positions(x.rank() - 2);
  std::iota(positions.begin(), positions.end(), 1);
  const op::Tensor reduced = Reduced(call, std::move(positions));
  if (keepdims) return reduced;
  return op::Reshape(reduced, {x.dimension(0), x.dimension(-1)});
}

}  // namespace paceline
