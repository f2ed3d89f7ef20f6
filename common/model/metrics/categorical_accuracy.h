// Share of examples whose largest output, the first of equal ones, is where the
// largest label is. Output (..., classes): the mean over the leading
// dimensions.
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
  bool has_sparse_labels() const override { return false; }
  absl::Status CheckOutput(const Shape& output) const override;
  op::Tensor Lower(const op::Tensor& output,
                   const op::Tensor& labels) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_CATEGORICAL_ACCURACY_H_
