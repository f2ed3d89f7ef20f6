// The minimum of several inputs.
#ifndef PACELINE_COMMON_MODEL_LAYERS_MINIMUM_H_
#define PACELINE_COMMON_MODEL_LAYERS_MINIMUM_H_

#include "absl/strings/string_view.h"
#include "common/model/layers/merge_layer.h"
#include "common/operations/function.h"

namespace paceline {

template <typename T>
class FieldTable;

// Elementwise; inputs are broadcast. The first of equal elements gets the
// gradient.
class Minimum : public MergeLayer {
 public:
  static constexpr char kClassName[] = "Minimum";
  static const FieldTable<Minimum>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  bool reads_masks() const override { return true; }

 protected:
  op::Tensor Merge(const op::Tensor& a, const op::Tensor& b) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_MINIMUM_H_
