#include "common/model/layers/embedding.h"

#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
namespace {

// Ids are float32 numbers, whose range was checked when the batch came.
class EmbeddingComputation final : public LayerComputation {
 public:
  explicit EmbeddingComputation(const Node& node) : node_(node) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    ids_ = input;
    Tensor* const output =
        builder.NewTensor(builder.BatchShape(node_.output_shape));
    builder.AddKernel({input, output}, output->count(),
                      [=, table = builder.variable(node_.variables[0])] {
                        return GatherRows{output->shape.back(), input->floats(),
                                          table->floats(), ValuesOf(output)};
                      });
    return output;
  }

  // Rows whose ids are not in the batch get zeros.
  OutputGradient AddBackward(OutputGradient output, bool /*wants_input*/,
                             ProgramBuilder& builder) override {
    Tensor* const sums = builder.gradient(node_.variables[0]);
    builder.Add({}, [=](Queue& queue) {
      queue.Zero(sums->data(),
                 sums->count() * static_cast<int64_t>(sizeof(float)));
    });
    Tensor* const places = builder.NewTensor<IdPlace>(ids_->shape);
    builder.AddKernel({ids_, places}, ids_->count(), [=, ids = ids_] {
      return LinkIds{ids->count(), ids->floats(), places->as<IdPlace>()};
    });
    builder.AddKernel({ids_, places, output.tensor}, output.tensor->count(),
                      [=, ids = ids_, gradient = output.tensor] {
                        return ScatterRows{sums->shape.back(), ids->floats(),
                                           places->as<IdPlace>(),
                                           ValuesOf(gradient), sums->floats()};
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

}  // namespace paceline::cuda
