// The error in per cent of the label, over the elements of an output of any
// shape: 100 times the mean of |label - output| / max(|label|, 1e-7).
#ifndef PACELINE_COMMON_MODEL_LOSSES_MEAN_ABSOLUTE_PERCENTAGE_ERROR_H_
#define PACELINE_COMMON_MODEL_LOSSES_MEAN_ABSOLUTE_PERCENTAGE_ERROR_H_

#include "absl/strings/string_view.h"
#include "common/model/loss.h"

namespace paceline {

template <typename T>
class FieldTable;

class MeanAbsolutePercentageError : public Loss {
 public:
  static constexpr char kClassName[] = "MeanAbsolutePercentageError";
  static const FieldTable<MeanAbsolutePercentageError>& Fields();

  MeanAbsolutePercentageError() : Loss("mean_absolute_percentage_error") {}

  absl::string_view class_name() const override { return kClassName; }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool from_logits) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_MEAN_ABSOLUTE_PERCENTAGE_ERROR_H_
