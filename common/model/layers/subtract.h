// The difference of two inputs.
#ifndef PACELINE_COMMON_MODEL_LAYERS_SUBTRACT_H_
#define PACELINE_COMMON_MODEL_LAYERS_SUBTRACT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layers/merge_layer.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// Elementwise; inputs are broadcast.
class Subtract : public MergeLayer {
 public:
  static constexpr char kClassName[] = "Subtract";
  static const FieldTable<Subtract>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;

 protected:
  op::Tensor Merge(const op::Tensor& a, const op::Tensor& b) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_SUBTRACT_H_
