// The best of one rate at the thresholds where another is at least a value, as
// Keras' SensitivitySpecificityBase.
#ifndef PACELINE_COMMON_MODEL_METRICS_CONSTRAINED_RATES_H_
#define PACELINE_COMMON_MODEL_METRICS_CONSTRAINED_RATES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/model/metrics/confusion_curve.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

class ConstrainedRate : public ConfusionCurveMetric {
 public:
  absl::Status CheckOutput(const Shape& output) const override;

  // The least value of the other rate, in [0, 1].
  double least = 0;
  int64_t num_thresholds = 200;
  // If set, only this index along the last axis counts.
  std::optional<int64_t> class_id;

 protected:
  CurveThresholds Thresholds() const override {
    return {.count = num_thresholds};
  }
  op::Tensor Probabilities(const op::Tensor& output) const override;
  op::Tensor CountedLabels(const op::Tensor& labels) const override;
  double ResultOf(const std::vector<Confusion>& curve) const override;

  virtual double Constrained(const Confusion& counts) const = 0;
  virtual double Wanted(const Confusion& counts) const = 0;
};

class PrecisionAtRecall : public ConstrainedRate {
 public:
  static constexpr char kClassName[] = "PrecisionAtRecall";
  static const FieldTable<PrecisionAtRecall>& Fields();

  absl::string_view class_name() const override { return kClassName; }

 protected:
  double Constrained(const Confusion& counts) const override {
    return counts.recall();
  }
  double Wanted(const Confusion& counts) const override {
    return counts.precision();
  }
};

class RecallAtPrecision : public ConstrainedRate {
 public:
  static constexpr char kClassName[] = "RecallAtPrecision";
  static const FieldTable<RecallAtPrecision>& Fields();

  absl::string_view class_name() const override { return kClassName; }

 protected:
  double Constrained(const Confusion& counts) const override {
    return counts.precision();
  }
  double Wanted(const Confusion& counts) const override {
    return counts.recall();
  }
};

class SensitivityAtSpecificity : public ConstrainedRate {
 public:
  static constexpr char kClassName[] = "SensitivityAtSpecificity";
  static const FieldTable<SensitivityAtSpecificity>& Fields();

  absl::string_view class_name() const override { return kClassName; }

 protected:
  double Constrained(const Confusion& counts) const override {
    return counts.specificity();
  }
  double Wanted(const Confusion& counts) const override {
    return counts.recall();
  }
};

class SpecificityAtSensitivity : public ConstrainedRate {
 public:
  static constexpr char kClassName[] = "SpecificityAtSensitivity";
  static const FieldTable<SpecificityAtSensitivity>& Fields();

  absl::string_view class_name() const override { return kClassName; }

 protected:
  double Constrained(const Confusion& counts) const override {
    return counts.recall();
  }
  double Wanted(const Confusion& counts) const override {
    return counts.specificity();
  }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_CONSTRAINED_RATES_H_
