// Focal cross-entropy of classes given by their probabilities, in which certain
// examples count less (Lin et al., 2017), as
// keras.losses.CategoricalFocalCrossentropy computes it.
//
// Output (..., classes); Σ alpha (1 - p)^gamma · -y log p over the classes,
// where p is clip(output / Σ output, 1e-7, 1 - 1e-7), of the softmax if the
// output is logits, and y the smoothed label; the mean over the leading
// dimensions.
#ifndef PACELINE_COMMON_MODEL_LOSSES_CATEGORICAL_FOCAL_CROSSENTROPY_H_
#define PACELINE_COMMON_MODEL_LOSSES_CATEGORICAL_FOCAL_CROSSENTROPY_H_

#include "absl/strings/string_view.h"
#include "common/model/loss.h"

namespace paceline {

template <typename T>
class FieldTable;

class CategoricalFocalCrossentropy : public Loss {
 public:
  static constexpr char kClassName[] = "CategoricalFocalCrossentropy";
  static const FieldTable<CategoricalFocalCrossentropy>& Fields();

  CategoricalFocalCrossentropy() : Loss("categorical_focal_crossentropy") {}

  absl::string_view class_name() const override { return kClassName; }
  bool reads_logits() const override { return from_logits; }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool from_logits) const override;

  bool from_logits = false;
  // In [0, 1].
  double label_smoothing = 0;
  double alpha = 0.25;
  // At least 0; 0: alpha times the cross-entropy.
  double gamma = 2;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_CATEGORICAL_FOCAL_CROSSENTROPY_H_
