// Counts of right and wrong predictions at many thresholds, for metrics of the
// curve that they make.
#ifndef PACELINE_COMMON_MODEL_METRICS_CONFUSION_CURVE_H_
#define PACELINE_COMMON_MODEL_METRICS_CONFUSION_CURVE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "common/model/metric.h"
#include "common/model/metrics/confusion.h"

namespace paceline {

// The thresholds of a curve, which are in [0, 1].
struct CurveThresholds {
  // Spread evenly from 0 to 1; a single one is 0.5.
  int64_t count = 200;
  // If not empty, these instead.
  std::vector<double> given = {};
  // As in Keras' AUC, whether the first threshold is just below 0, and the last
  // one just above 1. They come before and behind those that are given.
  bool pass_ends = false;

  int64_t size() const;
};

// A metric of the counts at many thresholds. An element is predicted to be yes
// if it is above the threshold, and is yes if its label is not 0. The output
// may have any shape.
//
// The state is, by the number of thresholds that an element is above, from 0 to
// all: how many elements are yes, or the sum of their weights; then the same of
// those that are no.
class ConfusionCurveMetric : public Metric {
 public:
  bool is_mean() const override { return false; }
  int64_t state_size() const override;
  op::Tensor LowerState(
      const op::Tensor& output, const op::Tensor& labels,
      const std::optional<op::Tensor>& weights) const override;
  double Result(absl::Span<const double> state) const override;

 protected:
  virtual CurveThresholds Thresholds() const = 0;
  // The elements that count, as probabilities.
  virtual op::Tensor Probabilities(const op::Tensor& output) const = 0;
  virtual op::Tensor CountedLabels(const op::Tensor& labels) const = 0;
  // `curve`: by threshold, ascending.
  virtual double ResultOf(const std::vector<Confusion>& curve) const = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_CONFUSION_CURVE_H_
