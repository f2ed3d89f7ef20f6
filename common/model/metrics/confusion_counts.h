// The counts themselves: how many elements are predicted rightly or wrongly.
#ifndef PACELINE_COMMON_MODEL_METRICS_CONFUSION_COUNTS_H_
#define PACELINE_COMMON_MODEL_METRICS_CONFUSION_COUNTS_H_

#include "absl/strings/string_view.h"
#include "common/model/metrics/confusion.h"

namespace paceline {

template <typename T>
class FieldTable;

class TruePositives : public ConfusionMetric {
 public:
  static constexpr char kClassName[] = "TruePositives";
  static const FieldTable<TruePositives>& Fields();

  absl::string_view class_name() const override { return kClassName; }

 protected:
  double ResultOf(const Confusion& counts) const override {
    return counts.true_positives;
  }
};

class FalsePositives : public ConfusionMetric {
 public:
  static constexpr char kClassName[] = "FalsePositives";
  static const FieldTable<FalsePositives>& Fields();

  absl::string_view class_name() const override { return kClassName; }

 protected:
  double ResultOf(const Confusion& counts) const override {
    return counts.false_positives;
  }
};

class TrueNegatives : public ConfusionMetric {
 public:
  static constexpr char kClassName[] = "TrueNegatives";
  static const FieldTable<TrueNegatives>& Fields();

  absl::string_view class_name() const override { return kClassName; }

 protected:
  double ResultOf(const Confusion& counts) const override {
    return counts.true_negatives;
  }
};

class FalseNegatives : public ConfusionMetric {
 public:
  static constexpr char kClassName[] = "FalseNegatives";
  static const FieldTable<FalseNegatives>& Fields();

  absl::string_view class_name() const override { return kClassName; }

 protected:
  double ResultOf(const Confusion& counts) const override {
    return counts.false_negatives;
  }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_CONFUSION_COUNTS_H_
