// Which pixels along an axis a resized pixel is the weighted sum of.
#ifndef PACELINE_COMMON_IMAGE_AXIS_WEIGHTS_H_
#define PACELINE_COMMON_IMAGE_AXIS_WEIGHTS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "common/image/interpolation.h"

namespace paceline {

// Output pixel o is the sum of weights[o * taps + t] * in[first[o] + t] over t
// in [0, taps). All of these input pixels exist.
class AxisWeights {
 public:
  // Computes the weights for `in` and `out` pixels, both positive. They are
  // those of TensorFlow's kernels: resize_bilinear_op,
  // resize_nearest_neighbor_op, resize_bicubic_op, resize_area_op, and
  // scale_and_translate_op for the others. Keeps memory for the next call.
  void Compute(Interpolation interpolation, int64_t in, int64_t out);

  int64_t taps() const { return taps_; }
  int64_t first(int64_t out) const { return first_[out]; }
  const float* weights(int64_t out) const {
    return weights_.data() + out * taps_;
  }

 private:
  int64_t taps_ = 0;
  std::vector<int64_t> first_;
  std::vector<float> weights_;
  // Input pixels of one output pixel, and their weights.
  std::vector<std::pair<int64_t, float>> pixels_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_IMAGE_AXIS_WEIGHTS_H_
