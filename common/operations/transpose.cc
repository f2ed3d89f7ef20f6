#include "common/operations/transpose.h"

#include <algorithm>
#include <numeric>

#include "glog/logging.h"

namespace paceline::op {

std::vector<TensorType> TransposeOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  const Shape& shape = inputs[0].shape;
  std::vector<int> axes(shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  CHECK(std::is_permutation(axes.begin(), axes.end(), permutation_.begin(),
                            permutation_.end()))
      << ToString(inputs[0]);
  Shape output;
  for (const int axis : permutation_) output.push_back(shape[axis]);
  return {{inputs[0].type, output}};
}

Gradients TransposeOperation::AddGradient(const CallGradient& call) const {
  std::vector<int> inverse(permutation_.size());
  for (size_t i = 0; i < permutation_.size(); ++i) {
    inverse[permutation_[i]] = static_cast<int>(i);
  }
  return {Transpose(*call.output_gradients[0], std::move(inverse))};
}

Tensor Transpose(const Tensor& x, std::vector<int> permutation) {
  return AddCall(TransposeOperation(std::move(permutation)), {x});
}

}  // namespace paceline::op
