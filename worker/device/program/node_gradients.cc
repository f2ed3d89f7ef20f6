#include "worker/device/program/node_gradients.h"

namespace paceline {
namespace {

// A layer that computes in float32 may have readers that compute in fewer bits.
// Then the sum must be float32, although the parts are rounded.
bool CanHoldSum(const OutputGradient& part, const LayoutBuilder& builder) {
  return !part.is_shared &&
         SizeOf(part.tensor->type) >= SizeOf(builder.storage_type());
}

}  // namespace

void NodeGradients::Add(int node, const OutputGradient& part) {
  parts_[node].push_back(part);
  ++pending_[part.tensor->memory];
}

OutputGradient NodeGradients::TakePart(int node) {
  OutputGradient part = parts_[node].back();
  parts_[node].pop_back();
  part.is_shared = --pending_[part.tensor->memory] > 0;
  return part;
}

OutputGradient NodeGradients::TakeSum(int node, LayoutBuilder& builder) {
  if (!has(node)) return {};
  OutputGradient sum = TakePart(node);
  while (has(node)) {
    const OutputGradient part = TakePart(node);
    Tensor* const target = CanHoldSum(sum, builder) ? sum.tensor
                           : CanHoldSum(part, builder)
                               ? part.tensor
                               : builder.NewTensor(sum.tensor->shape);
    builder.AddSum(sum.tensor, part.tensor, target);
    builder.NoteOverwriting(target);
    sum = {target};
  }
  return sum;
}

}  // namespace paceline
