// Layers that only give the same memory another shape.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_RESHAPE_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_RESHAPE_H_

#include <memory>

#include "worker/device/program/node_computation.h"

namespace paceline {

template <typename Builder>
class ReshapeComputation final : public LayerComputation<Builder> {
 public:
  explicit ReshapeComputation(const Node& node) : node_(node) {}

  Tensor* AddForward(Tensor* input, Builder& builder) override {
    input_shape_ = input->shape;
    return builder.Reshaped(input, builder.BatchShape(node_.output_shape));
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             Builder& builder) override {
    if (!wants_input) return {};
    return {builder.Reshaped(output.tensor, input_shape_)};
  }

 private:
  const Node& node_;
  Shape input_shape_;
};

// Flatten, Reshape, and what the layer before has done.
template <typename Builder>
std::unique_ptr<NodeComputation<Builder>> MakeReshape(const Graph& /*graph*/,
                                                      const Node& node) {
  return std::make_unique<ReshapeComputation<Builder>>(node);
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_RESHAPE_H_
