// Recall: tp / (tp + fn) over all elements, as keras.metrics.Recall with one
// threshold; 0 if no label is yes.
#ifndef PACELINE_COMMON_MODEL_METRICS_RECALL_H_
#define PACELINE_COMMON_MODEL_METRICS_RECALL_H_

#include "absl/strings/string_view.h"
#include "common/model/metrics/confusion.h"

namespace paceline {

template <typename T>
class FieldTable;

class Recall : public ConfusionMetric {
 public:
  static constexpr char kClassName[] = "Recall";
  static const FieldTable<Recall>& Fields();

  absl::string_view class_name() const override { return kClassName; }

 protected:
  double ResultOf(const Confusion& counts) const override {
    return counts.recall();
  }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_RECALL_H_
