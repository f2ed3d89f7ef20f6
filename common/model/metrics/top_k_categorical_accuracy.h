// Fraction of examples for which fewer than k outputs are larger than that of
// the class with the largest label. Output (classes).
#ifndef PACELINE_COMMON_MODEL_METRICS_TOP_K_CATEGORICAL_ACCURACY_H_
#define PACELINE_COMMON_MODEL_METRICS_TOP_K_CATEGORICAL_ACCURACY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/model/metric.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

class TopKCategoricalAccuracy : public Metric {
 public:
  static constexpr char kClassName[] = "TopKCategoricalAccuracy";
  static const FieldTable<TopKCategoricalAccuracy>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::Status CheckOutput(const Shape& output) const override;
  op::Tensor Lower(const op::Tensor& output,
                   const op::Tensor& labels) const override;

  int64_t k = 5;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_TOP_K_CATEGORICAL_ACCURACY_H_
