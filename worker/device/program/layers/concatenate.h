// Concatenate, of what every device has.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_CONCATENATE_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_CONCATENATE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "common/model/layers/concatenate.h"
#include "common/model/shape_rule.h"
#include "worker/device/program/node_computation.h"

namespace paceline {

// A row is what lies behind an index of the axis and of those before it, the
// batch included; each input has a part of every row.
template <typename Builder>
class ConcatenateComputation final : public NodeComputation<Builder> {
 public:
  explicit ConcatenateComputation(const Node& node) : node_(node) {}

  Tensor* AddNodeForward(absl::Span<Tensor* const> inputs,
                         Builder& builder) override {
    Tensor* const output =
        builder.NewTensor(builder.BatchShape(node_.output_shape));
    const int axis =
        ExampleAxis(static_cast<const Concatenate&>(*node_.layer).axis,
                    node_.output_shape.size());
    // The batch comes first.
    rows_ = NumElements(absl::MakeSpan(output->shape).first(1 + axis));
    int64_t offset = 0;
    for (const Tensor* input : inputs) {
      shapes_.push_back(input->shape);
      const int64_t size = input->count() / rows_;
      builder.AddRowCopy(rows_, size, input, 0, output, offset);
      offset += size;
    }
    return output;
  }

  std::vector<OutputGradient> AddNodeBackward(
      OutputGradient output, const std::vector<bool>& wants_inputs,
      Builder& builder) override {
    std::vector<OutputGradient> gradients(shapes_.size());
    int64_t offset = 0;
    for (size_t i = 0; i < shapes_.size(); ++i) {
      const int64_t size = NumElements(shapes_[i]) / rows_;
      if (wants_inputs[i]) {
        gradients[i].tensor = builder.NewTensor(shapes_[i]);
        builder.AddRowCopy(rows_, size, output.tensor, offset,
                           gradients[i].tensor, 0);
      }
      offset += size;
    }
    return gradients;
  }

 private:
  const Node& node_;
  int64_t rows_ = 0;
  // Of the inputs.
  std::vector<Shape> shapes_;
};

template <typename Builder>
std::unique_ptr<NodeComputation<Builder>> MakeConcatenate(
    const Graph& /*graph*/, const Node& node) {
  return std::make_unique<ConcatenateComputation<Builder>>(node);
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_CONCATENATE_H_
