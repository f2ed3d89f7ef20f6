// Adds random numbers in training.
#ifndef PACELINE_COMMON_MODEL_LAYERS_GAUSSIAN_NOISE_H_
#define PACELINE_COMMON_MODEL_LAYERS_GAUSSIAN_NOISE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/model/layers/noise_layer.h"
#include "common/operations/function.h"

namespace paceline {

template <typename T>
class FieldTable;

// x + noise, which is normal with mean 0 and standard deviation `stddev`.
class GaussianNoise : public NoiseLayer {
 public:
  static constexpr char kClassName[] = "GaussianNoise";
  static const FieldTable<GaussianNoise>& Fields();

  absl::string_view class_name() const override { return kClassName; }

  // In [0, 1].
  double stddev = 0;

 protected:
  bool has_noise() const override { return stddev > 0; }
  op::Tensor Noised(const op::Tensor& x, uint64_t key) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_GAUSSIAN_NOISE_H_
