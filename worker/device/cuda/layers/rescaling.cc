#include "common/model/layers/rescaling.h"

#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
namespace {

class RescalingComputation final : public LayerComputation {
 public:
  explicit RescalingComputation(const Rescaling& layer) : layer_(layer) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    channels_ = input->shape.back();
    std::vector<float> scales;
    std::vector<float> offsets;
    for (int64_t c = 0; c < channels_; ++c) {
      scales.push_back(static_cast<float>(layer_.ScaleOf(c)));
      offsets.push_back(static_cast<float>(layer_.OffsetOf(c)));
    }
    scales_ = builder.NewConstant(scales);
    Tensor* const output = builder.NewTensor(input->shape);
    AddScale(input, builder.NewConstant(offsets), output, builder);
    return output;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!wants_input) return {};
    Tensor* const gradient = output.is_shared
                                 ? builder.NewTensor(output.tensor->shape)
                                 : output.tensor;
    AddScale(output.tensor, /*offsets=*/nullptr, gradient, builder);
    return {gradient};
  }

 private:
  void AddScale(const Tensor* input, const Tensor* offsets,
                const Tensor* output, ProgramBuilder& builder) const {
    builder.AddKernel({input, output}, input->count(),
                      [=, channels = channels_, scales = scales_] {
                        return ScaleChannels{channels, scales->floats(),
                                             FloatsOrNull(offsets),
                                             ValuesOf(input), ValuesOf(output)};
                      });
  }

  const Rescaling& layer_;
  int64_t channels_ = 0;
  Tensor* scales_ = nullptr;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeRescaling(const Graph& /*graph*/,
                                               const Node& node) {
  return std::make_unique<RescalingComputation>(
      static_cast<const Rescaling&>(*node.layer));
}

}  // namespace paceline::cuda
