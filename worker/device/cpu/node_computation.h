// How the CPU device computes one node of a graph. A layer is one file in
// worker/device/cpu/layers.
#ifndef PACELINE_WORKER_DEVICE_CPU_NODE_COMPUTATION_H_
#define PACELINE_WORKER_DEVICE_CPU_NODE_COMPUTATION_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/graph.h"
#include "worker/device/cpu/program_builder.h"
#include "worker/device/cpu/tensor.h"

namespace paceline::cpu {

// The gradient of the loss by a node's output.
struct OutputGradient {
  // Null if nobody asked for it.
  Tensor* tensor = nullptr;
  // It is by what goes into the node's final activation: whoever made the
  // gradient has gone back through the activation too. Only where the node has
  // no other reader.
  bool before_activation = false;
  // Others will read it too: not to be overwritten.
  bool is_shared = false;
};

// The tensor of a gradient, to be overwritten: a copy, if it is shared.
Tensor* Overwritable(const OutputGradient& gradient, ProgramBuilder& builder);

class NodeComputation {
 public:
  virtual ~NodeComputation() = default;

  // Adds the operations of the forward; returns the output.
  virtual Tensor* AddNodeForward(absl::Span<Tensor* const> inputs,
                                 ProgramBuilder& builder) = 0;

  // Adds the operations of the backward, which may overwrite `output` unless it
  // is shared: the gradients of the node's variables, then those of the inputs
  // that are wanted. Returns one for each input; several may be one tensor.
  // After AddNodeForward, in training.
  virtual std::vector<OutputGradient> AddNodeBackward(
      OutputGradient output, const std::vector<bool>& wants_inputs,
      ProgramBuilder& builder) = 0;

  // What goes into the final activation, for losses that read it. After
  // AddNodeForward; null if there is no final activation.
  virtual Tensor* before_activation() const { return nullptr; }
};

// Of a layer with one input.
class LayerComputation : public NodeComputation {
 public:
  virtual Tensor* AddForward(Tensor* input, ProgramBuilder& builder) = 0;
  virtual OutputGradient AddBackward(OutputGradient output, bool wants_input,
                                     ProgramBuilder& builder) = 0;

  Tensor* AddNodeForward(absl::Span<Tensor* const> inputs,
                         ProgramBuilder& builder) final {
    return AddForward(inputs[0], builder);
  }
  std::vector<OutputGradient> AddNodeBackward(
      OutputGradient output, const std::vector<bool>& wants_inputs,
      ProgramBuilder& builder) final {
    return {AddBackward(output, wants_inputs[0], builder)};
  }
};

// The computation of a node of `graph`, which outlives it. Unimplemented names
// the layer that the device cannot compute.
absl::StatusOr<std::unique_ptr<NodeComputation>> MakeNodeComputation(
    const Graph& graph, const Node& node);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_NODE_COMPUTATION_H_
