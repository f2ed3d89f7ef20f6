#include "common/model/layers/zero_padding2d.h"

#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
namespace {

class ZeroPadding2DComputation final : public LayerComputation {
 public:
  explicit ZeroPadding2DComputation(const Node& node) : node_(node) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_shape_ = input->shape;
    Tensor* const output =
        builder.NewTensor(builder.BatchShape(node_.output_shape));
    const auto& padding =
        static_cast<const ZeroPadding2D&>(*node_.layer).padding;
    top_ = padding[0][0];
    left_ = padding[1][0];
    AddShift(input, -top_, -left_, output, builder);
    return output;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!wants_input) return {};
    Tensor* const input_gradient = builder.NewTensor(input_shape_);
    AddShift(output.tensor, top_, left_, input_gradient, builder);
    return {input_gradient};
  }

 private:
  static void AddShift(const Tensor* from, int64_t down, int64_t right,
                       const Tensor* to, ProgramBuilder& builder) {
    builder.AddKernel({from, to}, to->count(), [=] {
      return ShiftImages{
          .from_height = from->shape[1],
          .from_width = from->shape[2],
          .height = to->shape[1],
          .width = to->shape[2],
          .channels = to->shape[3],
          .down = down,
          .right = right,
          .from = ValuesOf(from),
          .to = ValuesOf(to),
      };
    });
  }

  const Node& node_;
  Shape input_shape_;
  int64_t top_ = 0;
  int64_t left_ = 0;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeZeroPadding2D(const Graph& /*graph*/,
                                                   const Node& node) {
  return std::make_unique<ZeroPadding2DComputation>(node);
}

}  // namespace paceline::cuda
