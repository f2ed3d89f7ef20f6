// Fraction of examples for which fewer than k outputs are larger than that of
// the label's class. Output (classes).
#ifndef PACELINE_COMMON_MODEL_METRICS_SPARSE_TOP_K_CATEGORICAL_ACCURACY_H_
#define PACELINE_COMMON_MODEL_METRICS_SPARSE_TOP_K_CATEGORICAL_ACCURACY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/model/metric.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

class SparseTopKCategoricalAccuracy : public Metric {
 public:
  static constexpr char kClassName[] = "SparseTopKCategoricalAccuracy";
  static const FieldTable<SparseTopKCategoricalAccuracy>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  bool has_sparse_labels() const override { return true; }
  absl::Status CheckOutput(const Shape& output) const override;
  op::Tensor Lower(const op::Tensor& output,
                   const op::Tensor& labels) const override;

  int64_t k = 5;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_SPARSE_TOP_K_CATEGORICAL_ACCURACY_H_
