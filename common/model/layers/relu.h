// Rectifier with threshold, negative slope and maximum.
#ifndef PACELINE_COMMON_MODEL_LAYERS_RELU_H_
#define PACELINE_COMMON_MODEL_LAYERS_RELU_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// min(x, max_value) for x > threshold, else negative_slope · (x - threshold).
class ReLU : public Layer {
 public:
  static constexpr char kClassName[] = "ReLU";
  static const FieldTable<ReLU>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
  bool passes_mask() const override { return true; }

  // nullopt: none.
  std::optional<double> max_value;
  double negative_slope = 0;
  double threshold = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_RELU_H_
