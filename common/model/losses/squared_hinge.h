// Mean of max(1 - label · output, 0)² over the elements of an output of any
// shape, with labels as for Hinge.
#ifndef PACELINE_COMMON_MODEL_LOSSES_SQUARED_HINGE_H_
#define PACELINE_COMMON_MODEL_LOSSES_SQUARED_HINGE_H_

#include "absl/strings/string_view.h"
#include "common/model/loss.h"

namespace paceline {

template <typename T>
class FieldTable;

class SquaredHinge : public Loss {
 public:
  static constexpr char kClassName[] = "SquaredHinge";
  static const FieldTable<SquaredHinge>& Fields();

  SquaredHinge() : Loss("squared_hinge") {}

  absl::string_view class_name() const override { return kClassName; }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool from_logits) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_SQUARED_HINGE_H_
