#include "common/model/layers/rescaling.h"

#include <memory>
#include <vector>

#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {
namespace {

// Of each channel.
struct Line {
  std::vector<float> scale;
  std::vector<float> offset;
};

class RescalingComputation final : public LayerComputation {
 public:
  RescalingComputation(const Rescaling& layer, int64_t channels) {
    auto line = std::make_shared<Line>();
    for (int64_t c = 0; c < channels; ++c) {
      line->scale.push_back(static_cast<float>(layer.ScaleOf(c)));
      line->offset.push_back(static_cast<float>(layer.OffsetOf(c)));
    }
    line_ = std::move(line);
  }

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    Tensor* const output = builder.NewTensor(input->shape);
    const int64_t channels = input->shape.back();
    builder.AddParallel({input, output}, input->count() / channels, channels,
                        [=, line = line_](int64_t begin, int64_t end) {
                          for (int64_t row = begin; row < end; ++row) {
                            const float* const x =
                                input->floats() + row * channels;
                            float* const y = output->floats() + row * channels;
                            for (int64_t c = 0; c < channels; ++c) {
                              y[c] = x[c] * line->scale[c] + line->offset[c];
                            }
                          }
                        });
    return output;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!wants_input) return {};
    Tensor* const gradient = Overwritable(output, builder);
    const int64_t channels = gradient->shape.back();
    builder.AddParallel({gradient}, gradient->count() / channels, channels,
                        [=, line = line_](int64_t begin, int64_t end) {
                          for (int64_t row = begin; row < end; ++row) {
                            float* const dy =
                                gradient->floats() + row * channels;
                            for (int64_t c = 0; c < channels; ++c) {
                              dy[c] *= line->scale[c];
                            }
                          }
                        });
    return {gradient};
  }

 private:
  std::shared_ptr<const Line> line_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeRescaling(const Graph& /*graph*/,
                                               const Node& node) {
  return std::make_unique<RescalingComputation>(
      static_cast<const Rescaling&>(*node.layer), node.output_shape.back());
}

}  // namespace paceline::cpu
