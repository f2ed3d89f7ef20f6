// Multiplies by random numbers in training (Srivastava et al.).
#ifndef PACELINE_COMMON_MODEL_LAYERS_GAUSSIAN_DROPOUT_H_
#define PACELINE_COMMON_MODEL_LAYERS_GAUSSIAN_DROPOUT_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/model/layers/noise_layer.h"
#include "common/operations/function.h"

namespace paceline {

template <typename T>
class FieldTable;

// x · noise, which is normal with mean 1 and the standard deviation that the
// factors of a Dropout of this rate have: √(rate / (1 − rate)).
class GaussianDropout : public NoiseLayer {
 public:
  static constexpr char kClassName[] = "GaussianDropout";
  static const FieldTable<GaussianDropout>& Fields();

  absl::string_view class_name() const override { return kClassName; }

  // In [0, 1).
  double rate = 0;

 protected:
  bool has_noise() const override { return rate > 0; }
  op::Tensor Noised(const op::Tensor& x, uint64_t key) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_GAUSSIAN_DROPOUT_H_
