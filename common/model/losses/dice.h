// Dice loss of segmentations: 1 - 2 Σ y p / (Σ y + Σ p + 1e-7).
//
// The output has any shape. Sums go over `axis`; without one over the whole
// batch, which then has one loss. The loss is the mean over the other axes.
#ifndef PACELINE_COMMON_MODEL_LOSSES_DICE_H_
#define PACELINE_COMMON_MODEL_LOSSES_DICE_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/model/keras_fields.h"
#include "common/model/loss.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

class Dice : public Loss {
 public:
  static constexpr char kClassName[] = "Dice";
  static const FieldTable<Dice>& Fields();

  Dice() : Loss("dice") {}

  absl::string_view class_name() const override { return kClassName; }
  absl::Status CheckOutput(const Shape& output) const override;
  bool FitsMask(const Shape& /*output*/) const override { return !axis; }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool from_logits) const override;

  // What sums go over, in Keras' counting: the batch is 0; negative from the
  // end. nullopt: everything.
  std::optional<AxisList> axis;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_DICE_H_
