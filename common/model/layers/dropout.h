// Drops elements at random in training.
#ifndef PACELINE_COMMON_MODEL_LAYERS_DROPOUT_H_
#define PACELINE_COMMON_MODEL_LAYERS_DROPOUT_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// In training each element becomes 0 with probability `rate`, and is scaled by
// 1 / (1 - rate) otherwise. In evaluation the layer is the identity. The mask
// is defined in dropout_mask.h.
class Dropout : public Layer {
 public:
  static constexpr char kClassName[] = "Dropout";
  static const FieldTable<Dropout>& Fields();

  Dropout() = default;
  explicit Dropout(double dropped_share) : rate(dropped_share) {}

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  // In [0, 1).
  double rate = 0;
  // nullopt: the job's seed.
  std::optional<int64_t> seed;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_DROPOUT_H_
