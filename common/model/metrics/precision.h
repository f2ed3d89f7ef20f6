// Precision: tp / (tp + fp) over all elements, as keras.metrics.Precision with
// one threshold; 0 if nothing is predicted to be yes.
#ifndef PACELINE_COMMON_MODEL_METRICS_PRECISION_H_
#define PACELINE_COMMON_MODEL_METRICS_PRECISION_H_

#include "absl/strings/string_view.h"
#include "common/model/metrics/confusion.h"

namespace paceline {

template <typename T>
class FieldTable;

class PrecisionMetric : public ConfusionMetric {
 public:
  static constexpr char kClassName[] = "Precision";
  static const FieldTable<PrecisionMetric>& Fields();

  absl::string_view class_name() const override { return kClassName; }

 protected:
  double ResultOf(const Confusion& counts) const override {
    return counts.precision();
  }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_PRECISION_H_
