#include "common/model/layers/max_pooling2d.h"

#include "worker/device/cpu/final_activation.h"
#include "worker/device/cpu/kernels/pooling.h"
#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {
namespace {

class MaxPooling2DComputation final : public LayerComputation {
 public:
  MaxPooling2DComputation(const Graph& graph, const Node& node)
      : node_(node), rectifies_(PoolingRectifies(graph, node)) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_ = input;
    output_ = builder.NewTensor(builder.BatchShape(node_.output_shape));
    const auto& layer = static_cast<const MaxPooling2D&>(*node_.layer);
    windows_ = std::make_shared<const PoolWindows>(MakePoolWindows(
        WindowOver(layer.windows(), input->shape), input->shape));
    builder.AddParallel(
        {input_, output_}, input->shape[0], image_size(),
        [windows = windows_, rectifies = rectifies_, in = input_,
         out = output_](int64_t begin, int64_t end) {
          MaxPoolForward(*windows, rectifies, begin, end, in->floats(),
                         out->floats());
        });
    return output_;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!wants_input) return {};
    Tensor* const input_gradient = builder.NewTensor(input_->shape);
    builder.AddParallel(
        {input_, output_, output.tensor, input_gradient}, input_->shape[0],
        image_size(),
        [windows = windows_, rectifies = rectifies_, in = input_, out = output_,
         out_gradient = output.tensor,
         input_gradient](int64_t begin, int64_t end) {
          MaxPoolBackward(*windows, rectifies, begin, end, in->floats(),
                          out->floats(), out_gradient->floats(),
                          input_gradient->floats());
        });
    return {input_gradient, /*before_activation=*/rectifies_};
  }

 private:
  int64_t image_size() const {
    return windows_->pixel_count * windows_->channels;
  }

  const Node& node_;
  // Forward and backward do the work of the rectifier before it, too.
  const bool rectifies_;
  std::shared_ptr<const PoolWindows> windows_;
  Tensor* input_ = nullptr;
  Tensor* output_ = nullptr;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeMaxPooling2D(const Graph& graph,
                                                  const Node& node) {
  return std::make_unique<MaxPooling2DComputation>(graph, node);
}

}  // namespace paceline::cpu
