// Rectifier with a slope below 0.
#ifndef PACELINE_COMMON_MODEL_LAYERS_LEAKY_RELU_H_
#define PACELINE_COMMON_MODEL_LAYERS_LEAKY_RELU_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// x for x > 0, else negative_slope · x.
class LeakyReLU : public Layer {
 public:
  static constexpr char kClassName[] = "LeakyReLU";
  static const FieldTable<LeakyReLU>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
  bool passes_mask() const override { return true; }

  double negative_slope = 0.3;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_LEAKY_RELU_H_
