// Mean of max(1 - label · output, 0) over the elements of an output of any
// shape. Labels are -1 and 1. If all labels of a batch are 0 or 1, 0 stands for
// -1, as in Keras.
#ifndef PACELINE_COMMON_MODEL_LOSSES_HINGE_H_
#define PACELINE_COMMON_MODEL_LOSSES_HINGE_H_

#include "absl/strings/string_view.h"
#include "common/model/loss.h"

namespace paceline {

template <typename T>
class FieldTable;

class Hinge : public Loss {
 public:
  static constexpr char kClassName[] = "Hinge";
  static const FieldTable<Hinge>& Fields();

  Hinge() : Loss("hinge") {}

  absl::string_view class_name() const override { return kClassName; }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool from_logits) const override;
};

// max(1 - label · output, 0) of each element.
op::Tensor HingeErrors(const op::Tensor& input, const op::Tensor& labels);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_HINGE_H_
