// Cosine of the angle between output and label, unlike the loss of this name,
// which is minus that. Keras logs its mean over the examples.
#ifndef PACELINE_COMMON_MODEL_METRICS_COSINE_SIMILARITY_H_
#define PACELINE_COMMON_MODEL_METRICS_COSINE_SIMILARITY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/model/metric.h"
#include "common/model/shape_rule.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

class CosineSimilarityMetric : public Metric {
 public:
  static constexpr char kClassName[] = "CosineSimilarity";
  static const FieldTable<CosineSimilarityMetric>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::Status CheckOutput(const Shape& output) const override;
  bool FitsMask(const Shape& output) const override {
    return ExampleAxis(axis, output.size()) + 1 ==
           static_cast<int>(output.size());
  }
  op::Tensor Lower(const op::Tensor& output,
                   const op::Tensor& labels) const override;

  // In Keras' counting: the batch is 0; negative from the end.
  int64_t axis = -1;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_COSINE_SIMILARITY_H_
