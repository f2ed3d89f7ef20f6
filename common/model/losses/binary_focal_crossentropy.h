// Focal cross-entropy of independent yes or no, in which certain elements count
// less (Lin et al., 2017), as keras.losses.BinaryFocalCrossentropy computes it.
//
// The output has any shape; the loss is the mean over its elements of (1 -
// p_t)^gamma · binary cross-entropy, where p is the probability, y the smoothed
// label, and p_t = y p + (1 - y) (1 - p). With class balancing each element
// counts y alpha + (1 - y) (1 - alpha) times.
#ifndef PACELINE_COMMON_MODEL_LOSSES_BINARY_FOCAL_CROSSENTROPY_H_
#define PACELINE_COMMON_MODEL_LOSSES_BINARY_FOCAL_CROSSENTROPY_H_

#include "absl/strings/string_view.h"
#include "common/model/activation.h"
#include "common/model/loss.h"

namespace paceline {

template <typename T>
class FieldTable;

class BinaryFocalCrossentropy : public Loss {
 public:
  static constexpr char kClassName[] = "BinaryFocalCrossentropy";
  static const FieldTable<BinaryFocalCrossentropy>& Fields();

  BinaryFocalCrossentropy() : Loss("binary_focal_crossentropy") {}

  absl::string_view class_name() const override { return kClassName; }
  bool reads_logits() const override { return from_logits; }
  // Keras looks for the logits behind an activation only if the output is said
  // to be probabilities.
  bool has_logits_form() const override { return !from_logits; }
  // Keras would take the cross-entropy of a sigmoid, but the focal factor of
  // the softmax.
  bool AcceptsLogitsOf(ActivationFunction activation) const override {
    return activation == ActivationFunction::kSigmoid;
  }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool from_logits) const override;

  bool from_logits = false;
  // In [0, 1].
  double label_smoothing = 0;
  bool apply_class_balancing = false;
  // The weight of a yes, in [0, 1].
  double alpha = 0.25;
  // At least 0; 0: the cross-entropy.
  double gamma = 2;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_BINARY_FOCAL_CROSSENTROPY_H_
