// Binary cross-entropy.
//
// The output has any shape; the loss is the mean over its elements. Labels y
// become y (1 - label_smoothing) + label_smoothing / 2. From logits x: max(x,
// 0) - x y + log(1 + exp(-|x|)). From probabilities p, with c = clip(p, 1e-7, 1
// - 1e-7): -y log c - (1 - y) log(1 - c).
#ifndef PACELINE_COMMON_MODEL_LOSSES_BINARY_CROSSENTROPY_H_
#define PACELINE_COMMON_MODEL_LOSSES_BINARY_CROSSENTROPY_H_

#include "absl/strings/string_view.h"
#include "common/model/loss.h"

namespace paceline {

template <typename T>
class FieldTable;

class BinaryCrossentropy : public Loss {
 public:
  static constexpr char kClassName[] = "BinaryCrossentropy";
  static const FieldTable<BinaryCrossentropy>& Fields();

  BinaryCrossentropy() : Loss("binary_crossentropy") {}

  absl::string_view class_name() const override { return kClassName; }
  bool reads_logits() const override { return from_logits; }
  bool has_logits_form() const override { return true; }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool reads_from_logits) const override;

  bool from_logits = false;
  // In [0, 1].
  double label_smoothing = 0;
};

// The cross-entropy of each element, from logits or from probabilities.
op::Tensor BinaryCrossentropies(const op::Tensor& input,
                                const op::Tensor& labels, bool from_logits);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_BINARY_CROSSENTROPY_H_
