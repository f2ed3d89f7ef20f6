// How a device computes one node of a graph: adds its operations to the
// device's `Builder`, which is a LayoutBuilder. A layer is one file.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_NODE_COMPUTATION_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_NODE_COMPUTATION_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "common/model/graph.h"
#include "worker/device/program/node_gradients.h"
#include "worker/device/program/tensor.h"

namespace paceline {

template <typename Builder>
class NodeComputation {
 public:
  virtual ~NodeComputation() = default;

  // Adds the operations of the forward; returns the output.
  virtual Tensor* AddNodeForward(absl::Span<Tensor* const> inputs,
                                 Builder& builder) = 0;

  // Adds the operations of the backward, which may overwrite `output` unless it
  // is shared: the gradients of the node's variables, then those of the inputs
  // that are wanted. Returns one for each input; several may be one tensor.
  // After AddNodeForward, in training.
  virtual std::vector<OutputGradient> AddNodeBackward(
      OutputGradient output, const std::vector<bool>& wants_inputs,
      Builder& builder) = 0;

  // What goes into the final activation, for losses that read it. After
  // AddNodeForward; null if there is no final activation.
  virtual Tensor* before_activation() const { return nullptr; }
};

// Of a layer with one input.
template <typename Builder>
class LayerComputation : public NodeComputation<Builder> {
 public:
  virtual Tensor* AddForward(Tensor* input, Builder& builder) = 0;
  virtual OutputGradient AddBackward(OutputGradient output, bool wants_input,
                                     Builder& builder) = 0;

  Tensor* AddNodeForward(absl::Span<Tensor* const> inputs,
                         Builder& builder) final {
    return AddForward(inputs[0], builder);
  }
  std::vector<OutputGradient> AddNodeBackward(
      OutputGradient output, const std::vector<bool>& wants_inputs,
      Builder& builder) final {
    return {AddBackward(output, wants_inputs[0], builder)};
  }
};

// Makes the computation of a node, which it outlives no more than the graph.
template <typename Builder>
using NodeFactory = std::unique_ptr<NodeComputation<Builder>>(
    const Graph& graph, const Node& node);

// What a device computes.
template <typename Builder>
struct LayerEntry {
  const char* class_name;
  NodeFactory<Builder>* make;
};

// The computation of a node of `graph`, which outlives it. Unimplemented names
// the layer that is not in the table of the device.
template <typename Builder>
absl::StatusOr<std::unique_ptr<NodeComputation<Builder>>> MakeFromTable(
    absl::Span<const LayerEntry<Builder>> table, const std::string& device,
    const Graph& graph, const Node& node) {
  for (const LayerEntry<Builder>& entry : table) {
    if (node.layer->class_name() == entry.class_name) {
      return entry.make(graph, node);
    }
  }
  return absl::UnimplementedError(
      absl::StrCat("layer ", node.layer->name, " (", node.layer->class_name(),
                   "): the ", device, " device cannot compute it"));
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_NODE_COMPUTATION_H_
