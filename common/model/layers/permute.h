// Reorders the axes of each example.
#ifndef PACELINE_COMMON_MODEL_LAYERS_PERMUTE_H_
#define PACELINE_COMMON_MODEL_LAYERS_PERMUTE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// Axis i of the output is axis dims[i] of the input; axes count from 1.
class Permute : public Layer {
 public:
  static constexpr char kClassName[] = "Permute";
  static const FieldTable<Permute>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  std::vector<int64_t> dims;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_PERMUTE_H_
