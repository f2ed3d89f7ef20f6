// The gradients that flow between the nodes of a graph.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_NODE_GRADIENTS_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_NODE_GRADIENTS_H_

#include <cstddef>
#include <map>
#include <vector>

#include "worker/device/program/layout_builder.h"
#include "worker/device/program/tensor.h"

namespace paceline {

// The loss's gradient with respect to a node's output, or to the input of its
// final activation.
struct OutputGradient {
  // Null if no gradient was wanted or given.
  Tensor* tensor = nullptr;
  // Others will read it, too, so it must not be overwritten.
  bool is_shared = false;
};

// Collects the gradients from all readers of each node, until the node's
// backward takes their sum.
class NodeGradients {
 public:
  explicit NodeGradients(size_t node_count) : parts_(node_count) {}

  void Add(int node, const OutputGradient& part);
  bool has(int node) const { return !parts_[node].empty(); }

  // Adds the sum of the parts, in place if nobody else reads them. Null if
  // there are no parts.
  OutputGradient TakeSum(int node, LayoutBuilder& builder);

 private:
  OutputGradient TakePart(int node);

  std::vector<std::vector<OutputGradient>> parts_;
  // Number of pending gradients in each memory block.
  std::map<const Memory*, int> pending_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_NODE_GRADIENTS_H_
