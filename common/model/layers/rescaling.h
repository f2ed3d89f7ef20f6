// Scales and shifts the input.
#ifndef PACELINE_COMMON_MODEL_LAYERS_RESCALING_H_
#define PACELINE_COMMON_MODEL_LAYERS_RESCALING_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/model/layers/channel_numbers.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// input · scale + offset.
class Rescaling : public Layer {
 public:
  static constexpr char kClassName[] = "Rescaling";
  static const FieldTable<Rescaling>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
  bool passes_mask() const override { return true; }

  // Channels are along the last axis.
  ChannelNumbers scale = {{1}};
  ChannelNumbers offset = {{0}};
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_RESCALING_H_
