#include "common/model/layers/relu.h"

#include <limits>

#include "worker/device/cpu/kernels/activation.h"
#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {
namespace {

class ReluComputation final : public LayerComputation {
 public:
  explicit ReluComputation(const ReLU& layer)
      : relu_{static_cast<float>(layer.threshold),
              static_cast<float>(layer.negative_slope),
              static_cast<float>(layer.max_value.value_or(
                  std::numeric_limits<double>::infinity())),
              static_cast<float>(layer.derivative_at_threshold())} {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_ = input;
    Tensor* const output = builder.NewTensor(input->shape);
    builder.AddParallel(
        {input, output}, input->count(), 1,
        [relu = relu_, input, output](int64_t begin, int64_t end) {
          BentReluForward(relu, end - begin, input->floats() + begin,
                          output->floats() + begin);
        });
    return output;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!wants_input) return {};
    Tensor* const gradient = Overwritable(output, builder);
    builder.AddParallel(
        {input_, gradient}, input_->count(), 1,
        [relu = relu_, input = input_, gradient](int64_t begin, int64_t end) {
          BentReluBackward(relu, end - begin, input->floats() + begin,
                           gradient->floats() + begin);
        });
    return {gradient};
  }

 private:
  BentRelu relu_;
  Tensor* input_ = nullptr;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeReLU(const Graph& /*graph*/,
                                          const Node& node) {
  return std::make_unique<ReluComputation>(
      static_cast<const ReLU&>(*node.layer));
}

}  // namespace paceline::cpu
