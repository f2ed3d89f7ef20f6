// A row of numbers for each id.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_EMBEDDING_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_EMBEDDING_H_

#include <algorithm>
#include <cstdint>

#include "common/model/layers/embedding.h"
#include "worker/device/reference/computation.h"

namespace paceline::reference {

template <typename T>
class EmbeddingComputation : public LayerComputation<T> {
 public:
  explicit EmbeddingComputation(const LayerContext<T>& context)
      : embeddings_(context.variables[0]) {}

  void Forward(const Step& /*step*/, const Tensor<T>& input,
               Tensor<T>& output) override {
    const int64_t size = output.row_size();
    for (int64_t i = 0; i < input.size(); ++i) {
      const auto id = static_cast<int64_t>(input.values[i]);
      std::copy_n(&embeddings_.value[id * size], size, output.row(i));
    }
  }

  void Backward(const Step& /*step*/, const Tensor<T>& input,
                const Tensor<T>& /*output*/, const Tensor<T>& output_gradient,
                Tensor<T>& /*input_gradient*/) override {
    const int64_t size = output_gradient.row_size();
    std::fill(embeddings_.gradient.begin(), embeddings_.gradient.end(), T{0});
    for (int64_t i = 0; i < input.size(); ++i) {
      const auto id = static_cast<int64_t>(input.values[i]);
      for (int64_t c = 0; c < size; ++c) {
        embeddings_.gradient[id * size + c] += output_gradient.row(i)[c];
      }
    }
  }

 private:
  Variable<T> embeddings_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_EMBEDDING_H_
