// Normalization by the statistics of groups of channels.
#ifndef PACELINE_COMMON_MODEL_LAYERS_GROUP_NORMALIZATION_H_
#define PACELINE_COMMON_MODEL_LAYERS_GROUP_NORMALIZATION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layers/normalization_layer.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"

namespace paceline {

// gamma · (x − mean) / √(variance + epsilon) + beta (Wu and He, 2018). The
// channels, along `axis`, are divided into groups of consecutive ones. Mean and
// (biased) variance are those of a group of an example, over all other axes,
// too. gamma and beta are per channel, if `scale` and `center`.
class GroupNormalization : public NormalizationLayer {
 public:
  static constexpr char kClassName[] = "GroupNormalization";
  static const FieldTable<GroupNormalization>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  // InvalidArgument unless the channels can be divided into groups.
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  // [gamma], [beta].
  std::vector<VariableSpec> Variables(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  // -1: each channel is a group.
  int64_t groups = 32;
  // In Keras' counting: the batch is axis 0; negative from the end.
  int64_t axis = -1;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_GROUP_NORMALIZATION_H_
