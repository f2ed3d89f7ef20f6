// The input of a model.
#ifndef PACELINE_COMMON_MODEL_LAYERS_INPUT_LAYER_H_
#define PACELINE_COMMON_MODEL_LAYERS_INPUT_LAYER_H_

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// Output: `shape`.
class InputLayer : public Layer {
 public:
  static constexpr char kClassName[] = "InputLayer";
  static const FieldTable<InputLayer>& Fields();

  InputLayer() = default;
  explicit InputLayer(Shape shape_of_example)
      : shape(std::move(shape_of_example)) {}

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  // Of one example.
  Shape shape;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_INPUT_LAYER_H_
