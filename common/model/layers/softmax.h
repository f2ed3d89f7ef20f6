// Softmax along an axis.
#ifndef PACELINE_COMMON_MODEL_LAYERS_SOFTMAX_H_
#define PACELINE_COMMON_MODEL_LAYERS_SOFTMAX_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/activation.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// exp(x) / Σ exp(x), computed with the largest x subtracted.
class Softmax : public Layer {
 public:
  static constexpr char kClassName[] = "Softmax";
  static const FieldTable<Softmax>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
  // As in Keras, the mask of a sequence does not fit.
  absl::StatusOr<OutputMask> ComputeMask(const MaskedCall& call) const override;
  bool has_mask_argument() const override { return true; }
  ActivationFunction final_activation() const override;

  // In Keras' counting: the batch is axis 0; negative from the end.
  int64_t axis = -1;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_SOFTMAX_H_
