#include "worker/device/program/node_gradients.h"

#include "glog/logging.h"

namespace paceline {

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
  OutputGradient sum = TakePart(node);
  while (has(node)) {
    CHECK(!sum.before_activation);
    const OutputGradient part = TakePart(node);
    Tensor* const target = !sum.is_shared ? sum.tensor
                           : !part.is_shared
                               ? part.tensor
                               : builder.NewTensor(sum.tensor->shape);
    builder.AddSum(sum.tensor, part.tensor, target);
    builder.NoteOverwriting(target);
    sum = {target};
  }
  return sum;
}

}  // namespace paceline
