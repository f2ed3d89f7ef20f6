// Root of the mean of (output - label)² over all elements of an output of any
// shape.
#ifndef PACELINE_COMMON_MODEL_METRICS_ROOT_MEAN_SQUARED_ERROR_H_
#define PACELINE_COMMON_MODEL_METRICS_ROOT_MEAN_SQUARED_ERROR_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/metric.h"

namespace paceline {

template <typename T>
class FieldTable;

class RootMeanSquaredError : public Metric {
 public:
  static constexpr char kClassName[] = "RootMeanSquaredError";
  static const FieldTable<RootMeanSquaredError>& Fields();

  absl::string_view class_name() const override { return kClassName; }

  // The state is the sum of the examples' mean squares, and their number or
  // the sum of their weights.
  bool is_mean() const override { return false; }
  op::Tensor LowerState(
      const op::Tensor& output, const op::Tensor& labels,
      const std::optional<op::Tensor>& weights) const override;
  double Result(absl::Span<const double> state) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_ROOT_MEAN_SQUARED_ERROR_H_
