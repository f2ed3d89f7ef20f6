// Drops channels of sequences at random in training.
#ifndef PACELINE_COMMON_MODEL_LAYERS_SPATIAL_DROPOUT1D_H_
#define PACELINE_COMMON_MODEL_LAYERS_SPATIAL_DROPOUT1D_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layers/spatial_dropout.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// A channel of sequences (steps, channels) is dropped or kept as a whole.
class SpatialDropout1D : public SpatialDropout {
 public:
  static constexpr char kClassName[] = "SpatialDropout1D";
  static const FieldTable<SpatialDropout1D>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_SPATIAL_DROPOUT1D_H_
