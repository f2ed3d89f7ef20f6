// Larger images.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_UP_SAMPLING2D_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_UP_SAMPLING2D_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/model/layers/up_sampling2d.h"
#include "worker/device/reference/computation.h"

namespace paceline::reference {

template <typename T>
class UpSampling2DComputation : public LayerComputation<T> {
 public:
  explicit UpSampling2DComputation(const LayerContext<T>& context)
      : rows_(LayerOf(context).Blend(0, context.input_shape[1])),
        columns_(LayerOf(context).Blend(1, context.input_shape[2])) {}

  void Forward(const Step& /*step*/, const Tensor<T>& input,
               Tensor<T>& output) override {
    std::fill(output.values.begin(), output.values.end(), T{0});
    ForEachShare(input, [&](int64_t in, int64_t out, T share) {
      for (int64_t c = 0; c < input.row_size(); ++c) {
        output.row(out)[c] += share * input.row(in)[c];
      }
    });
  }

  void Backward(const Step& /*step*/, const Tensor<T>& input,
                const Tensor<T>& /*output*/, const Tensor<T>& output_gradient,
                Tensor<T>& input_gradient) override {
    std::fill(input_gradient.values.begin(), input_gradient.values.end(), T{0});
    ForEachShare(input, [&](int64_t in, int64_t out, T share) {
      for (int64_t c = 0; c < input.row_size(); ++c) {
        input_gradient.row(in)[c] += share * output_gradient.row(out)[c];
      }
    });
  }

 private:
  static const UpSampling2D& LayerOf(const LayerContext<T>& context) {
    return *static_cast<const UpSampling2D*>(context.layer);
  }

  // Calls visit(pixel of the input, pixel of the output, its share of it).
  template <typename Visit>
  void ForEachShare(const Tensor<T>& input, Visit visit) const {
    const int64_t height = input.shape[1];
    const int64_t width = input.shape[2];
    int64_t out = 0;
    for (int64_t image = 0; image < input.batch_size(); ++image) {
      for (const BlendedElement& row : rows_) {
        for (const BlendedElement& column : columns_) {
          const auto give = [&](int64_t y, int64_t x, double share) {
            visit((image * height + y) * width + x, out, static_cast<T>(share));
          };
          const double down = row.upper_share;
          const double right = column.upper_share;
          give(row.lower, column.lower, (1 - down) * (1 - right));
          give(row.lower, column.upper, (1 - down) * right);
          give(row.upper, column.lower, down * (1 - right));
          give(row.upper, column.upper, down * right);
          ++out;
        }
      }
    }
  }

  std::vector<BlendedElement> rows_;
  std::vector<BlendedElement> columns_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_UP_SAMPLING2D_H_
