// Minus the cosine of the angle between output and label: -Σ (p / |p|) (y /
// |y|) along an axis of an output of any shape, the last one by default; the
// mean over the others. A norm counts as at least 1e-7.
#ifndef PACELINE_COMMON_MODEL_LOSSES_COSINE_SIMILARITY_H_
#define PACELINE_COMMON_MODEL_LOSSES_COSINE_SIMILARITY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/model/loss.h"
#include "common/model/shape_rule.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

class CosineSimilarity : public Loss {
 public:
  static constexpr char kClassName[] = "CosineSimilarity";
  static const FieldTable<CosineSimilarity>& Fields();

  CosineSimilarity() : Loss("cosine_similarity") {}

  absl::string_view class_name() const override { return kClassName; }
  absl::Status CheckOutput(const Shape& output) const override;
  bool FitsMask(const Shape& output) const override {
    return ExampleAxis(axis, output.size()) + 1 ==
           static_cast<int>(output.size());
  }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool from_logits) const override;

  // In Keras' counting: the batch is 0; negative from the end.
  int64_t axis = -1;
};

// The cosine along `axis`, which counts as in CosineSimilarity; the mean over
// the other axes of each example, of shape (batch).
op::Tensor CosineSimilarities(const op::Tensor& input, const op::Tensor& labels,
                              int64_t axis);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_COSINE_SIMILARITY_H_
