// Fraction of examples for which argmax of the output equals argmax of the
// label; argmax is the first of equal elements. Output (..., classes): the mean
// over the leading dimensions.
#ifndef PACELINE_COMMON_MODEL_METRICS_CATEGORICAL_ACCURACY_H_
#define PACELINE_COMMON_MODEL_METRICS_CATEGORICAL_ACCURACY_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/model/metric.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

class CategoricalAccuracy : public Metric {
 public:
  static constexpr char kClassName[] = "CategoricalAccuracy";
  static const FieldTable<CategoricalAccuracy>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::Status CheckOutput(const Shape& output) const override;
  op::Tensor Lower(const op::Tensor& output,
                   const op::Tensor& labels) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_CATEGORICAL_ACCURACY_H_
