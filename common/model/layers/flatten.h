// Reshapes each example to one dimension.
#ifndef PACELINE_COMMON_MODEL_LAYERS_FLATTEN_H_
#define PACELINE_COMMON_MODEL_LAYERS_FLATTEN_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// (...) to (n), in C order.
class Flatten : public Layer {
 public:
  static constexpr char kClassName[] = "Flatten";
  static const FieldTable<Flatten>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_FLATTEN_H_
