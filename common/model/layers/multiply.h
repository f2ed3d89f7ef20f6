// The product of several inputs.
#ifndef PACELINE_COMMON_MODEL_LAYERS_MULTIPLY_H_
#define PACELINE_COMMON_MODEL_LAYERS_MULTIPLY_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// Elementwise; inputs are broadcast (BroadcastShape).
class Multiply : public Layer {
 public:
  static constexpr char kClassName[] = "Multiply";
  static const FieldTable<Multiply>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  bool is_merge() const override { return true; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_MULTIPLY_H_
