// Hinge of classes: output (..., classes); max(largest of the other classes -
// that of the label + 1, 0), where those are max (1 - label) · output and Σ
// label · output; the mean over the leading dimensions.
#ifndef PACELINE_COMMON_MODEL_LOSSES_CATEGORICAL_HINGE_H_
#define PACELINE_COMMON_MODEL_LOSSES_CATEGORICAL_HINGE_H_

#include "absl/strings/string_view.h"
#include "common/model/loss.h"

namespace paceline {

template <typename T>
class FieldTable;

class CategoricalHinge : public Loss {
 public:
  static constexpr char kClassName[] = "CategoricalHinge";
  static const FieldTable<CategoricalHinge>& Fields();

  CategoricalHinge() : Loss("categorical_hinge") {}

  absl::string_view class_name() const override { return kClassName; }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool from_logits) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_CATEGORICAL_HINGE_H_
