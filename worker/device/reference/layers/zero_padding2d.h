// Zeros around images.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_ZERO_PADDING2D_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_ZERO_PADDING2D_H_

#include <algorithm>
#include <cstdint>

#include "common/model/layers/zero_padding2d.h"
#include "worker/device/reference/computation.h"

namespace paceline::reference {

template <typename T>
class ZeroPadding2DComputation : public LayerComputation<T> {
 public:
  explicit ZeroPadding2DComputation(const LayerContext<T>& context)
      : layer_(*static_cast<const ZeroPadding2D*>(context.layer)) {}

  void Forward(const Step& /*step*/, const Tensor<T>& input,
               Tensor<T>& output) override {
    std::fill(output.values.begin(), output.values.end(), T{0});
    ForEachPixel(input.shape, output.shape, [&](int64_t from, int64_t to) {
      std::copy_n(input.row(from), input.row_size(), output.row(to));
    });
  }

  void Backward(const Step& /*step*/, const Tensor<T>& input,
                const Tensor<T>& /*output*/, const Tensor<T>& output_gradient,
                Tensor<T>& input_gradient) override {
    ForEachPixel(input.shape, output_gradient.shape,
                 [&](int64_t to, int64_t from) {
                   std::copy_n(output_gradient.row(from), input.row_size(),
                               input_gradient.row(to));
                 });
  }

 private:
  // Calls visit(pixel of the input, that of the output where it goes).
  template <typename Visit>
  void ForEachPixel(const Shape& input, const Shape& output,
                    Visit visit) const {
    const int64_t top = layer_.padding[0][0];
    const int64_t left = layer_.padding[1][0];
    for (int64_t image = 0; image < input[0]; ++image) {
      for (int64_t y = 0; y < input[1]; ++y) {
        for (int64_t x = 0; x < input[2]; ++x) {
          visit((image * input[1] + y) * input[2] + x,
                (image * output[1] + top + y) * output[2] + left + x);
        }
      }
    }
  }

  const ZeroPadding2D& layer_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_ZERO_PADDING2D_H_
