// How the CUDA device computes one node of a graph. A layer is one file in
// worker/device/cuda/layers.
#ifndef PACELINE_WORKER_DEVICE_CUDA_NODE_COMPUTATION_H_
#define PACELINE_WORKER_DEVICE_CUDA_NODE_COMPUTATION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "common/model/graph.h"
#include "worker/device/cuda/program_builder.h"
#include "worker/device/cuda/tensor.h"

namespace paceline::cuda {

// The gradient of the loss by a node's output.
struct OutputGradient {
  // Null if nobody asked for it.
  Tensor* tensor = nullptr;
  // It is by what goes into the node's final activation: whoever made the
  // gradient has gone back through the activation too.
  bool before_activation = false;
};

class NodeComputation {
 public:
  virtual ~NodeComputation() = default;

  // Adds the operations of the forward; returns the output.
  virtual Tensor* AddForward(Tensor* input, ProgramBuilder& builder) = 0;

  // Adds the operations of the backward, which may overwrite `output`: the
  // gradients of the node's variables, then, if `wants_input`, that of its
  // input, which is returned, else null. After AddForward, in training.
  virtual Tensor* AddBackward(OutputGradient output, bool wants_input,
                              ProgramBuilder& builder) = 0;

  // What goes into the final activation, for losses that read it. After
  // AddForward; null if there is no final activation.
  virtual Tensor* before_activation() const { return nullptr; }
};

// The computation of a node of `graph`, which outlives it. Unimplemented names
// the layer that the device cannot compute.
absl::StatusOr<std::unique_ptr<NodeComputation>> MakeNodeComputation(
    const Graph& graph, const Node& node);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_NODE_COMPUTATION_H_
