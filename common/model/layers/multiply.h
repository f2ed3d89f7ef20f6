// The product of several inputs.
#ifndef PACELINE_COMMON_MODEL_LAYERS_MULTIPLY_H_
#define PACELINE_COMMON_MODEL_LAYERS_MULTIPLY_H_

#include "absl/strings/string_view.h"
#include "common/model/layers/merge_layer.h"
#include "common/operations/function.h"

namespace paceline {

template <typename T>
class FieldTable;

// Elementwise; inputs are broadcast. Where the mask of an input excludes a
// step, the product is of the others; 0 if all are excluded.
class Multiply : public MergeLayer {
 public:
  static constexpr char kClassName[] = "Multiply";
  static const FieldTable<Multiply>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  LoweredLayer Lower(const LayerCall& call) const override;
  bool reads_masks() const override { return true; }

 protected:
  op::Tensor Merge(const op::Tensor& a, const op::Tensor& b) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_MULTIPLY_H_
