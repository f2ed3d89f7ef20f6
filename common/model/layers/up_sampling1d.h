// Enlarges sequences by repeating steps.
#ifndef PACELINE_COMMON_MODEL_LAYERS_UP_SAMPLING1D_H_
#define PACELINE_COMMON_MODEL_LAYERS_UP_SAMPLING1D_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// (steps, channels) to (size · steps, channels).
class UpSampling1D : public Layer {
 public:
  static constexpr char kClassName[] = "UpSampling1D";
  static const FieldTable<UpSampling1D>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  int64_t size = 2;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_UP_SAMPLING1D_H_
