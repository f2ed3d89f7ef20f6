// The sum of several inputs.
#ifndef PACELINE_COMMON_MODEL_LAYERS_ADD_H_
#define PACELINE_COMMON_MODEL_LAYERS_ADD_H_

#include "absl/strings/string_view.h"
#include "common/model/layers/merge_layer.h"
#include "common/operations/function.h"

namespace paceline {

template <typename T>
class FieldTable;

// Elementwise; inputs are broadcast.
class Add : public MergeLayer {
 public:
  static constexpr char kClassName[] = "Add";
  static const FieldTable<Add>& Fields();

  absl::string_view class_name() const override { return kClassName; }

 protected:
  op::Tensor Merge(const op::Tensor& a, const op::Tensor& b) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_ADD_H_
