// Several inputs one behind the other.
#ifndef PACELINE_COMMON_MODEL_LAYERS_CONCATENATE_H_
#define PACELINE_COMMON_MODEL_LAYERS_CONCATENATE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// Inputs that differ along `axis` at most, joined along it.
class Concatenate : public Layer {
 public:
  static constexpr char kClassName[] = "Concatenate";
  static const FieldTable<Concatenate>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  bool is_merge() const override { return true; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  // Counts the batch as axis 0, or from the end.
  int64_t axis = -1;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_CONCATENATE_H_
