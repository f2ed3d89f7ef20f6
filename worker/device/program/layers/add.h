// Add, of what every device has.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_ADD_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_ADD_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "worker/device/program/broadcast.h"
#include "worker/device/program/node_computation.h"

namespace paceline {

template <typename Builder>
class AddComputation final : public NodeComputation<Builder> {
 public:
  explicit AddComputation(const Shape& output) : output_shape_(output) {}

  Tensor* AddNodeForward(absl::Span<Tensor* const> inputs,
                         Builder& builder) override {
    for (const Tensor* input : inputs) input_shapes_.push_back(input->shape);
    return AddMerge(&LayoutBuilder::AddSum, inputs,
                    builder.BatchShape(output_shape_), builder);
  }

  // Each input's is that of the sum, itself summed up over what was repeated.
  std::vector<OutputGradient> AddNodeBackward(
      OutputGradient output, const std::vector<bool>& wants_inputs,
      Builder& builder) override {
    std::vector<OutputGradient> gradients(wants_inputs.size());
    for (size_t i = 0; i < wants_inputs.size(); ++i) {
      if (!wants_inputs[i]) continue;
      gradients[i].tensor =
          AddSumOfRepetitions(output.tensor, input_shapes_[i], builder);
    }
    return gradients;
  }

 private:
  // Of an example, and of the batch.
  const Shape output_shape_;
  std::vector<Shape> input_shapes_;
};

template <typename Builder>
std::unique_ptr<NodeComputation<Builder>> MakeAdd(const Graph& /*graph*/,
                                                  const Node& node) {
  return std::make_unique<AddComputation<Builder>>(node.output_shape);
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_ADD_H_
