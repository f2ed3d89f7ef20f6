// Gradients between the nodes of a graph.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_NODE_GRADIENTS_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_NODE_GRADIENTS_H_

#include <cstddef>
#include <map>
#include <vector>

#include "worker/device/program/layout_builder.h"
#include "worker/device/program/tensor.h"

namespace paceline {

// The gradient of the loss by a node's output, or by what goes into the node's
// final activation.
struct OutputGradient {
  // Null if nobody asked for it, or nobody gave any.
  Tensor* tensor = nullptr;
  // Others will read it too: not to be overwritten.
  bool is_shared = false;
};

// What the readers of each node give, until its backward takes the sum.
class NodeGradients {
 public:
  explicit NodeGradients(size_t node_count) : parts_(node_count) {}

  void Add(int node, const OutputGradient& part);
  bool has(int node) const { return !parts_[node].empty(); }

  // Adds the sum of the parts, in place where no other node wants them. Null if
  // there are none.
  OutputGradient TakeSum(int node, LayoutBuilder& builder);

 private:
  OutputGradient TakePart(int node);

  std::vector<std::vector<OutputGradient>> parts_;
  // How many of these lie in a memory.
  std::map<const Memory*, int> pending_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_NODE_GRADIENTS_H_
