// Several inputs one behind the other along an axis.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_CONCATENATE_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_CONCATENATE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "common/model/layers/concatenate.h"
#include "common/model/shape_rule.h"
#include "worker/device/reference/computation.h"

namespace paceline::reference {

template <typename T>
class ConcatenateComputation : public NodeComputation<T> {
 public:
  explicit ConcatenateComputation(const LayerContext<T>& context) {
    const Shape& output = context.output_shape;
    const int64_t axis = static_cast<const Concatenate*>(context.layer)->axis;
    // Among the dimensions with the batch.
    const int along = 1 + ExampleAxis(axis, output.size() - 1);
    row_count_ = NumElements(absl::MakeSpan(output).first(along));
  }

  void RunForward(const Step& /*step*/, Inputs<T> inputs,
                  Tensor<T>& output) override {
    auto to = output.values.begin();
    for (int64_t row = 0; row < row_count_; ++row) {
      for (const Tensor<T>* input : inputs) {
        const int64_t size = input->size() / row_count_;
        to = std::copy_n(input->values.begin() + row * size, size, to);
      }
    }
  }

  void RunBackward(const Step& /*step*/, Inputs<T> /*inputs*/,
                   const Tensor<T>& /*output*/,
                   const Tensor<T>& output_gradient,
                   absl::Span<Tensor<T>> input_gradients) override {
    auto from = output_gradient.values.begin();
    for (int64_t row = 0; row < row_count_; ++row) {
      for (Tensor<T>& gradient : input_gradients) {
        const int64_t size = gradient.size() / row_count_;
        std::copy_n(from, size, gradient.values.begin() + row * size);
        from += size;
      }
    }
  }

 private:
  // Of each of which every input has a part.
  int64_t row_count_ = 0;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_CONCATENATE_H_
