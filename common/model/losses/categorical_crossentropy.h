// Cross-entropy of classes given by their probabilities.
//
// Output (..., classes); the mean over the leading dimensions. Labels y become
// y (1 - label_smoothing) + label_smoothing / classes. From logits x:
// -Σ y log softmax(x). From probabilities p: -Σ y log clip(p / Σ p, 1e-7, 1 -
// 1e-7).
#ifndef PACELINE_COMMON_MODEL_LOSSES_CATEGORICAL_CROSSENTROPY_H_
#define PACELINE_COMMON_MODEL_LOSSES_CATEGORICAL_CROSSENTROPY_H_

#include "absl/strings/string_view.h"
#include "common/model/loss.h"

namespace paceline {

template <typename T>
class FieldTable;

class CategoricalCrossentropy : public Loss {
 public:
  static constexpr char kClassName[] = "CategoricalCrossentropy";
  static const FieldTable<CategoricalCrossentropy>& Fields();

  CategoricalCrossentropy() : Loss("categorical_crossentropy") {}

  absl::string_view class_name() const override { return kClassName; }
  bool reads_logits() const override { return from_logits; }
  bool has_logits_form() const override { return true; }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool reads_from_logits) const override;

  bool from_logits = false;
  // In [0, 1].
  double label_smoothing = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_CATEGORICAL_CROSSENTROPY_H_
