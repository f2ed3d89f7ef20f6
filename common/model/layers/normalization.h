// Normalization by a mean and variance that are known before training.
#ifndef PACELINE_COMMON_MODEL_LAYERS_NORMALIZATION_H_
#define PACELINE_COMMON_MODEL_LAYERS_NORMALIZATION_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/keras_fields.h"
#include "common/model/layer.h"
#include "common/model/layers/channel_numbers.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// (x − mean) / max(√variance, 1e-7), in training and evaluation alike; if
// `invert`, the inverse. Each index along the axes of `axis` has its own mean
// and variance. If the config gives none, they are variables that no step
// changes: Keras' adapt() sets them, and its files have them.
class Normalization : public Layer {
 public:
  static constexpr char kClassName[] = "Normalization";
  static const FieldTable<Normalization>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  // None if the config gives mean and variance; else mean, variance, count.
  // The count is there for Keras' files only.
  std::vector<VariableSpec> Variables(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
  bool passes_mask() const override { return true; }

  // nullopt: one mean for all elements.
  std::optional<AxisList> axis = AxisList{-1};
  bool invert = false;
  // Both or none. Several numbers are along the last axis of `axis`.
  std::optional<ChannelNumbers> mean;
  std::optional<ChannelNumbers> variance;

 private:
  // The axes of `axis`, as indices into an example's dimensions.
  absl::StatusOr<std::vector<int>> KeptAxes(const Shape& input) const;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_NORMALIZATION_H_
