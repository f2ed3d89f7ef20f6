#include "common/model/layers/dropout.h"

#include "common/model/dropout_mask.h"
#include "worker/device/cpu/layers/layers.h"
#include "worker/device/cpu/parallel.h"

namespace paceline::cpu {
namespace {

// Elements that share a byte of the mask.
constexpr int64_t kBlock = 4;

// values = factor of kept elements, 0 of others; `kept` has a bit an element,
// a byte a block. `count` elements of one example.
void Scale(float factor, const uint8_t* kept, int64_t count,
           const float* inputs, float* outputs) {
  for (int64_t i = 0; i < count; ++i) {
    const bool is_kept = (kept[i / kBlock] >> (i % kBlock) & 1) != 0;
    outputs[i] = is_kept ? factor * inputs[i] : 0.0f;
  }
}

class DropoutComputation final : public LayerComputation {
 public:
  explicit DropoutComputation(const Dropout& layer) : layer_(layer) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    if (!builder.is_training()) return input;
    example_size_ = input->count() / input->shape[0];
    mask_ = builder.NewTensor<uint8_t>(
        {input->shape[0], (example_size_ + kBlock - 1) / kBlock});
    Tensor* const output = builder.NewTensor(input->shape);
    builder.Add({mask_}, [&layer = layer_, seed = builder.spec().seed,
                          mask = mask_](const Step& step) {
      const DropoutMask source(layer, seed, step.batch.epoch);
      const int64_t blocks = mask->shape[1];
      ParallelFor(mask->shape[0], blocks, [&](int64_t begin, int64_t end) {
        auto* kept = mask->as<uint8_t>() + begin * blocks;
        for (int64_t example = begin; example < end; ++example) {
          for (int64_t block = 0; block < blocks; ++block) {
            *kept++ = static_cast<uint8_t>(
                source.KeptOfBlock(step.batch.first_example + example, block));
          }
        }
      });
    });
    AddScale(input, output, builder);
    return output;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!wants_input) return {};
    Tensor* const gradient = Overwritable(output, builder);
    AddScale(gradient, gradient, builder);
    return {gradient};
  }

 private:
  void AddScale(Tensor* input, Tensor* output, ProgramBuilder& builder) {
    builder.AddParallel(
        {mask_, input, output}, mask_->shape[0], example_size_,
        [factor = static_cast<float>(1 / (1 - layer_.rate)), mask = mask_,
         size = example_size_, input, output](int64_t begin, int64_t end) {
          const auto* kept = mask->as<uint8_t>();
          for (int64_t example = begin; example < end; ++example) {
            Scale(factor, kept + example * mask->shape[1], size,
                  input->floats() + example * size,
                  output->floats() + example * size);
          }
        });
  }

  const Dropout& layer_;
  int64_t example_size_ = 0;
  Tensor* mask_ = nullptr;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeDropout(const Graph& /*graph*/,
                                             const Node& node) {
  return std::make_unique<DropoutComputation>(
      static_cast<const Dropout&>(*node.layer));
}

}  // namespace paceline::cpu
