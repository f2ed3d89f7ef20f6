// How a device computes one node of a graph: adds its operations to the
// device's `Builder`, which is a LayoutBuilder. A layer is one file.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_NODE_COMPUTATION_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_NODE_COMPUTATION_H_

#include <memory>
#include <vector>

#include "absl/types/span.h"
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

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_NODE_COMPUTATION_H_
