// Precision: tp / (tp + fp) over all elements, as keras.metrics.Precision with
// one threshold. An element is predicted positive if it is above the threshold,
// and is positive if its label is not 0. 0 if nothing is predicted positive.
// The output may have any shape.
#ifndef PACELINE_COMMON_MODEL_METRICS_PRECISION_H_
#define PACELINE_COMMON_MODEL_METRICS_PRECISION_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/metric.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

class PrecisionMetric : public Metric {
 public:
  static constexpr char kClassName[] = "Precision";
  static const FieldTable<PrecisionMetric>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  bool has_sparse_labels() const override { return false; }
  absl::Status CheckOutput(const Shape& output) const override;

  // The state is the numbers of true and false positives. A batch counts them
  // in the output's type: float32 counts exactly below 2^24.
  bool is_mean() const override { return false; }
  op::Tensor Lower(const op::Tensor& output,
                   const op::Tensor& labels) const override;
  double Result(absl::Span<const double> state) const override;

  // nullopt: 0.5.
  std::optional<double> thresholds;
  // If set, only this index along the last axis counts.
  std::optional<int64_t> class_id;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_PRECISION_H_
