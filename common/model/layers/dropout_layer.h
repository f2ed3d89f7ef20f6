// The base of layers that drop elements at random.
#ifndef PACELINE_COMMON_MODEL_LAYERS_DROPOUT_LAYER_H_
#define PACELINE_COMMON_MODEL_LAYERS_DROPOUT_LAYER_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/config/field_table.h"
#include "common/model/layers/noise_layer.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

// In training each element becomes 0 with probability `rate`, and is scaled by
// 1 / (1 - rate) otherwise. The mask is defined in dropout_mask.h.
class DropoutLayer : public NoiseLayer {
 public:
  // Sizes with the batch first, which is null; null: the input's size.
  using NoiseShape = std::vector<std::optional<int64_t>>;

  // InvalidArgument unless noise_shape can be broadcast to the input.
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;

  // In [0, 1).
  double rate = 0;
  // The shape of the mask, which is broadcast along axes of size 1; nullopt:
  // the input's.
  std::optional<NoiseShape> noise_shape;

 protected:
  bool has_noise() const override { return rate > 0; }
  op::Tensor Noised(const op::Tensor& x, uint64_t key) const override;

  // The mask, as bools.
  op::Tensor IsKept(const op::Tensor& x, uint64_t key) const;

  // The mask's shape for an input of this shape; both have the batch axis.
  virtual Shape MaskShape(const Shape& input) const;
};

template <typename L>
Field<L> RateField() {
  return Required("rate", &L::rate, Within(0, 1),
                  "Share of elements that are dropped.");
}

// The fields rate, seed and noise_shape.
template <typename L>
std::vector<Field<L>> DropoutFields() {
  Field<L> noise_shape =
      Optional("noise_shape", &L::noise_shape,
               "Shape of the mask: 1 for axes that share it, else null.");
  noise_shape.info.type = "list of integers and nulls, or null";
  return {RateField<L>(), SeedField<L>(), std::move(noise_shape)};
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_DROPOUT_LAYER_H_
