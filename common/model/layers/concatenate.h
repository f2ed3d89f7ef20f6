// Concatenates several inputs.
#ifndef PACELINE_COMMON_MODEL_LAYERS_CONCATENATE_H_
#define PACELINE_COMMON_MODEL_LAYERS_CONCATENATE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// Inputs may differ only along `axis`, along which they are joined.
class Concatenate : public Layer {
 public:
  static constexpr char kClassName[] = "Concatenate";
  static const FieldTable<Concatenate>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  bool is_merge() const override { return true; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
  // The masks, one behind the other, or along the last axis any of them. All
  // steps of an input without a mask count.
  absl::StatusOr<OutputMask> ComputeMask(const MaskedCall& call) const override;

  // In Keras' counting: the batch is axis 0; negative from the end.
  int64_t axis = -1;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_CONCATENATE_H_
