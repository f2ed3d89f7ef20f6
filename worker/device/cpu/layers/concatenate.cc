#include "common/model/layers/concatenate.h"

#include <algorithm>

#include "absl/types/span.h"
#include "common/model/shape_rule.h"
#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {
namespace {

// A row is what lies behind an index of the axis and of those before it, the
// batch included; each input has a part of every row.
class ConcatenateComputation final : public NodeComputation {
 public:
  explicit ConcatenateComputation(const Node& node) : node_(node) {}

  Tensor* AddNodeForward(absl::Span<Tensor* const> inputs,
                         ProgramBuilder& builder) override {
    Tensor* const output =
        builder.NewTensor(builder.BatchShape(node_.output_shape));
    const int axis =
        ExampleAxis(static_cast<const Concatenate&>(*node_.layer).axis,
                    node_.output_shape.size());
    // The batch comes first.
    row_count_ = NumElements(absl::MakeSpan(output->shape).first(1 + axis));
    const int64_t row_size = output->count() / row_count_;
    int64_t offset = 0;
    for (const Tensor* input : inputs) {
      shapes_.push_back(input->shape);
      const int64_t size = input->count() / row_count_;
      builder.AddParallel(
          {input, output}, row_count_, size, [=](int64_t begin, int64_t end) {
            for (int64_t row = begin; row < end; ++row) {
              std::copy_n(input->floats() + row * size, size,
                          output->floats() + row * row_size + offset);
            }
          });
      offset += size;
    }
    return output;
  }

  std::vector<OutputGradient> AddNodeBackward(
      OutputGradient output, const std::vector<bool>& wants_inputs,
      ProgramBuilder& builder) override {
    std::vector<OutputGradient> gradients(shapes_.size());
    const int64_t row_size = output.tensor->count() / row_count_;
    int64_t offset = 0;
    for (size_t i = 0; i < shapes_.size(); ++i) {
      const int64_t size = NumElements(shapes_[i]) / row_count_;
      if (wants_inputs[i]) {
        Tensor* const gradient = builder.NewTensor(shapes_[i]);
        builder.AddParallel(
            {output.tensor, gradient}, row_count_, size,
            [=, from = output.tensor](int64_t begin, int64_t end) {
              for (int64_t row = begin; row < end; ++row) {
                std::copy_n(from->floats() + row * row_size + offset, size,
                            gradient->floats() + row * size);
              }
            });
        gradients[i].tensor = gradient;
      }
      offset += size;
    }
    return gradients;
  }

 private:
  const Node& node_;
  int64_t row_count_ = 0;
  // Of the inputs.
  std::vector<Shape> shapes_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeConcatenate(const Graph& /*graph*/,
                                                 const Node& node) {
  return std::make_unique<ConcatenateComputation>(node);
}

}  // namespace paceline::cpu
