// Fraction of elements whose label equals (output > threshold); the mean over
// the elements of an example.
#ifndef PACELINE_COMMON_MODEL_METRICS_BINARY_ACCURACY_H_
#define PACELINE_COMMON_MODEL_METRICS_BINARY_ACCURACY_H_

#include "absl/strings/string_view.h"
#include "common/model/metric.h"

namespace paceline {

template <typename T>
class FieldTable;

class BinaryAccuracy : public Metric {
 public:
  static constexpr char kClassName[] = "BinaryAccuracy";
  static const FieldTable<BinaryAccuracy>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  op::Tensor Lower(const op::Tensor& output,
                   const op::Tensor& labels) const override;

  double threshold = 0.5;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_BINARY_ACCURACY_H_
