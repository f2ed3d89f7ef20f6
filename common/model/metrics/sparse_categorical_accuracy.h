// Fraction of examples for which argmax of the output, the first of equal
// elements, equals the label. Output (classes).
#ifndef PACELINE_COMMON_MODEL_METRICS_SPARSE_CATEGORICAL_ACCURACY_H_
#define PACELINE_COMMON_MODEL_METRICS_SPARSE_CATEGORICAL_ACCURACY_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/model/metric.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

class SparseCategoricalAccuracy : public Metric {
 public:
  static constexpr char kClassName[] = "SparseCategoricalAccuracy";
  static const FieldTable<SparseCategoricalAccuracy>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  bool has_sparse_labels() const override { return true; }
  absl::Status CheckOutput(const Shape& output) const override;
  op::Tensor Lower(const op::Tensor& output,
                   const op::Tensor& labels) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_SPARSE_CATEGORICAL_ACCURACY_H_
