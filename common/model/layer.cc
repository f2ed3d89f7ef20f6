#include "common/model/layer.h"

#include <algorithm>
#include <utility>

#include "common/operations/compare.h"
#include "common/operations/reshape.h"

namespace paceline {

// Reshapes the numbers and not the bools, which devices do not store.
std::optional<op::Tensor> LayerCall::MaskOf(int input, Shape shape) const {
  const auto* const found =
      std::find(masked_inputs.begin(), masked_inputs.end(), input);
  if (found == masked_inputs.end()) return std::nullopt;
  const op::Tensor& mask = masks[found - masked_inputs.begin()];
  return op::Greater(op::Reshape(mask, std::move(shape)), 0.5);
}

absl::StatusOr<OutputMask> Layer::ComputeMask(const MaskedCall& call) const {
  if (!passes_mask() || call.masks.empty() || !call.masks[0]) {
    return OutputMask();
  }
  return OutputMask{OutputMask::Kind::kOfFirstInput};
}

}  // namespace paceline
