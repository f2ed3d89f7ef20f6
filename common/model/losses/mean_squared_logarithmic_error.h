// Mean of (log(1 + output) - log(1 + label))² over the elements of an output of
// any shape. Both are at least 1e-7.
#ifndef PACELINE_COMMON_MODEL_LOSSES_MEAN_SQUARED_LOGARITHMIC_ERROR_H_
#define PACELINE_COMMON_MODEL_LOSSES_MEAN_SQUARED_LOGARITHMIC_ERROR_H_

#include "absl/strings/string_view.h"
#include "common/model/loss.h"

namespace paceline {

template <typename T>
class FieldTable;

class MeanSquaredLogarithmicError : public Loss {
 public:
  static constexpr char kClassName[] = "MeanSquaredLogarithmicError";
  static const FieldTable<MeanSquaredLogarithmicError>& Fields();

  MeanSquaredLogarithmicError() : Loss("mean_squared_logarithmic_error") {}

  absl::string_view class_name() const override { return kClassName; }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool from_logits) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_MEAN_SQUARED_LOGARITHMIC_ERROR_H_
