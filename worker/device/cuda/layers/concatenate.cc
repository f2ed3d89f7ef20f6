#include "common/model/layers/concatenate.h"

#include "absl/types/span.h"
#include "common/model/shape_rule.h"
#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
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
    rows_ = NumElements(absl::MakeSpan(output->shape).first(1 + axis));
    int64_t offset = 0;
    for (const Tensor* input : inputs) {
      shapes_.push_back(input->shape);
      AddCopy(input, 0, output, offset, input->count() / rows_, builder);
      offset += input->count() / rows_;
    }
    return output;
  }

  std::vector<OutputGradient> AddNodeBackward(
      OutputGradient output, const std::vector<bool>& wants_inputs,
      ProgramBuilder& builder) override {
    std::vector<OutputGradient> gradients(shapes_.size());
    int64_t offset = 0;
    for (size_t i = 0; i < shapes_.size(); ++i) {
      const int64_t size = NumElements(shapes_[i]) / rows_;
      if (wants_inputs[i]) {
        gradients[i].tensor = builder.NewTensor(shapes_[i]);
        AddCopy(output.tensor, offset, gradients[i].tensor, 0, size, builder);
      }
      offset += size;
    }
    return gradients;
  }

 private:
  // `size` elements of each row, from and to an offset in the row.
  void AddCopy(const Tensor* from, int64_t from_offset, const Tensor* to,
               int64_t to_offset, int64_t size, ProgramBuilder& builder) const {
    builder.AddKernel({from, to}, rows_ * size, [=, rows = rows_] {
      return CopyRowParts{.size = size,
                          .from_row_size = from->count() / rows,
                          .to_row_size = to->count() / rows,
                          .from = from->floats() + from_offset,
                          .to = to->floats() + to_offset};
    });
  }

  const Node& node_;
  int64_t rows_ = 0;
  // Of the inputs.
  std::vector<Shape> shapes_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeConcatenate(const Graph& /*graph*/,
                                                 const Node& node) {
  return std::make_unique<ConcatenateComputation>(node);
}

}  // namespace paceline::cuda
