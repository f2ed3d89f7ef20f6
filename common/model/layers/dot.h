// Products of two inputs along an axis.
#ifndef PACELINE_COMMON_MODEL_LAYERS_DOT_H_
#define PACELINE_COMMON_MODEL_LAYERS_DOT_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/keras_fields.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// Sums over an axis of each input: (..., n, ...) and (..., n, ...) give the
// other axes of the first, then those of the second; (1) if there are none.
class Dot : public Layer {
 public:
  static constexpr char kClassName[] = "Dot";
  static const FieldTable<Dot>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  bool is_merge() const override { return true; }
  InputCount input_count() const override { return {2, 2}; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  // In Keras' counting, one for both inputs or one for each: the batch is axis
  // 0; negative from the end.
  AxisList axes;
  // Whether inputs are divided by their norm along the axis first.
  bool normalize = false;

 private:
  // The axis of an example of input 0 or 1, whose rank is given.
  int AxisOf(int input, size_t rank) const;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_DOT_H_
