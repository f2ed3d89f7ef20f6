// Repeats each example.
#ifndef PACELINE_COMMON_MODEL_LAYERS_REPEAT_VECTOR_H_
#define PACELINE_COMMON_MODEL_LAYERS_REPEAT_VECTOR_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// (features) to (n, features).
class RepeatVector : public Layer {
 public:
  static constexpr char kClassName[] = "RepeatVector";
  static const FieldTable<RepeatVector>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  int64_t n = 1;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_REPEAT_VECTOR_H_
