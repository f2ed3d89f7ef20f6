// Area under a curve of the rates of right and wrong predictions over all
// thresholds, as keras.metrics.AUC computes it.
#ifndef PACELINE_COMMON_MODEL_METRICS_AUC_H_
#define PACELINE_COMMON_MODEL_METRICS_AUC_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/metrics/confusion_curve.h"

namespace paceline {

template <typename E>
struct EnumName;
template <typename T>
class FieldTable;

// ROC: recall over the rate of false positives. PR: precision over recall.
// PRGAIN: the gains of both (Flach and Kull, 2015).
enum class AucCurve { kRoc, kPr, kPrGain };
absl::Span<const EnumName<AucCurve>> EnumNames(AucCurve);

// Between two thresholds: the middle of the curve, its lower or its higher end.
enum class AucSummation { kInterpolation, kMinoring, kMajoring };
absl::Span<const EnumName<AucSummation>> EnumNames(AucSummation);

class Auc : public ConfusionCurveMetric {
 public:
  static constexpr char kClassName[] = "AUC";
  static const FieldTable<Auc>& Fields();

  absl::string_view class_name() const override { return kClassName; }

  int64_t num_thresholds = 200;
  AucCurve curve = AucCurve::kRoc;
  AucSummation summation_method = AucSummation::kInterpolation;
  bool from_logits = false;
  // If set, these, and one beyond each end, instead of num_thresholds.
  std::optional<std::vector<double>> thresholds;

 protected:
  CurveThresholds Thresholds() const override;
  op::Tensor Probabilities(const op::Tensor& output) const override;
  op::Tensor CountedLabels(const op::Tensor& labels) const override {
    return labels;
  }
  double ResultOf(const std::vector<Confusion>& curve) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_AUC_H_
