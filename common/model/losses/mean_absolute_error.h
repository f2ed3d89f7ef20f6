// Mean of |output - label| over the elements of an output of any shape.
#ifndef PACELINE_COMMON_MODEL_LOSSES_MEAN_ABSOLUTE_ERROR_H_
#define PACELINE_COMMON_MODEL_LOSSES_MEAN_ABSOLUTE_ERROR_H_

#include "absl/strings/string_view.h"
#include "common/model/loss.h"

namespace paceline {

template <typename T>
class FieldTable;

class MeanAbsoluteError : public Loss {
 public:
  static constexpr char kClassName[] = "MeanAbsoluteError";
  static const FieldTable<MeanAbsoluteError>& Fields();

  MeanAbsoluteError() : Loss("mean_absolute_error") {}

  absl::string_view class_name() const override { return kClassName; }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool from_logits) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_MEAN_ABSOLUTE_ERROR_H_
