// Counts of right and wrong predictions of yes and no, and metrics of them at
// one threshold: what Keras' confusion_metrics share.
#ifndef PACELINE_COMMON_MODEL_METRICS_CONFUSION_H_
#define PACELINE_COMMON_MODEL_METRICS_CONFUSION_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/model/metric.h"
#include "common/tensor/shape.h"

namespace paceline {

// How many elements are predicted to be yes or no, rightly or wrongly.
struct Confusion {
  double true_positives = 0;
  double false_positives = 0;
  double true_negatives = 0;
  double false_negatives = 0;

  double precision() const;
  double recall() const;
  double specificity() const;
};

// a / b, or 0 if b is 0: Keras' divide_no_nan.
double DivideNoNan(double a, double b);

// InvalidArgument unless the output has an axis, and `class_id`, if any, is on
// the last one.
absl::Status CheckClassId(const std::optional<int64_t>& class_id,
                          const Shape& output);
// The elements of that class, or all.
op::Tensor OfClass(const std::optional<int64_t>& class_id, const op::Tensor& x);

// A metric of the counts at one threshold. An element is predicted to be yes if
// it is above the threshold, and is yes if its label is not 0. The output may
// have any shape.
//
// The state is the four counts, or sums of weights, in the order of Confusion.
// A batch counts in the output's type: float32 counts exactly below 2^24.
class ConfusionMetric : public Metric {
 public:
  absl::Status CheckOutput(const Shape& output) const override;
  bool is_mean() const override { return false; }
  int64_t state_size() const override { return 4; }
  op::Tensor LowerState(
      const op::Tensor& output, const op::Tensor& labels,
      const std::optional<op::Tensor>& weights) const override;
  double Result(absl::Span<const double> state) const override;

  // nullopt: 0.5, or none if there is a top_k.
  std::optional<double> thresholds;
  // If set, only the k largest along the last axis are predicted to be yes.
  std::optional<int64_t> top_k;
  // If set, only this index along the last axis counts.
  std::optional<int64_t> class_id;

 protected:
  virtual double ResultOf(const Confusion& counts) const = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_CONFUSION_H_
