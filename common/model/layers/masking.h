// Masks the steps of a sequence that are padding.
#ifndef PACELINE_COMMON_MODEL_LAYERS_MASKING_H_
#define PACELINE_COMMON_MODEL_LAYERS_MASKING_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// (..., n) to (..., n): 0 where all n numbers are the mask value, which the
// mask of the output excludes.
class Masking : public Layer {
 public:
  static constexpr char kClassName[] = "Masking";
  static const FieldTable<Masking>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
  absl::StatusOr<OutputMask> ComputeMask(const MaskedCall& call) const override;

  double mask_value = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_MASKING_H_
