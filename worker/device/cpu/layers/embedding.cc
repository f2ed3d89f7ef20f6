#include "common/model/layers/embedding.h"

#include <algorithm>

#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {
namespace {

// Ids are float32 numbers, whose range was checked when the batch came.
class EmbeddingComputation final : public LayerComputation {
 public:
  explicit EmbeddingComputation(const Node& node) : node_(node) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    ids_ = input;
    Tensor* const output =
        builder.NewTensor(builder.BatchShape(node_.output_shape));
    const int64_t size = output->shape.back();
    builder.AddParallel({input, output}, input->count(), size,
                        [=, rows = builder.variable(node_.variables[0])](
                            int64_t begin, int64_t end) {
                          for (int64_t i = begin; i < end; ++i) {
                            const auto id =
                                static_cast<int64_t>(input->floats()[i]);
                            std::copy_n(rows->floats() + id * size, size,
                                        output->floats() + i * size);
                          }
                        });
    return output;
  }

  // Threads share the columns: each adds up in the order of the batch.
  OutputGradient AddBackward(OutputGradient output, bool /*wants_input*/,
                             ProgramBuilder& builder) override {
    Tensor* const sums = builder.gradient(node_.variables[0]);
    builder.AddParallel({}, sums->count(), 1, [=](int64_t begin, int64_t end) {
      std::fill(sums->floats() + begin, sums->floats() + end, 0.0f);
    });
    const int64_t size = sums->shape.back();
    builder.AddParallel(
        {ids_, output.tensor}, size, ids_->count(),
        [=, ids = ids_, gradient = output.tensor](int64_t begin, int64_t end) {
          for (int64_t i = 0; i < ids->count(); ++i) {
            const auto id = static_cast<int64_t>(ids->floats()[i]);
            float* const sum = sums->floats() + id * size;
            const float* const dy = gradient->floats() + i * size;
            for (int64_t c = begin; c < end; ++c) sum[c] += dy[c];
          }
        });
    builder.FinishGradient(node_.variables[0]);
    return {};
  }

 private:
  const Node& node_;
  Tensor* ids_ = nullptr;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeEmbedding(const Graph& /*graph*/,
                                               const Node& node) {
  return std::make_unique<EmbeddingComputation>(node);
}

}  // namespace paceline::cpu
