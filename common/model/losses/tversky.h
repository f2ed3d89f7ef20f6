// Tversky loss of segmentations: 1 - o / (o + alpha Σ y (1 - p) + beta Σ p (1 -
// y) + 1e-7), where o = Σ y p (Salehi et al., 2017). With alpha = beta = 0.5 it
// is Dice, apart from the 1e-7.
//
// The output has any shape, with `axis` as for Dice.
#ifndef PACELINE_COMMON_MODEL_LOSSES_TVERSKY_H_
#define PACELINE_COMMON_MODEL_LOSSES_TVERSKY_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/model/keras_fields.h"
#include "common/model/loss.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

class Tversky : public Loss {
 public:
  static constexpr char kClassName[] = "Tversky";
  static const FieldTable<Tversky>& Fields();

  Tversky() : Loss("tversky") {}

  absl::string_view class_name() const override { return kClassName; }
  absl::Status CheckOutput(const Shape& output) const override;
  bool FitsMask(const Shape& /*output*/) const override { return !axis; }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool from_logits) const override;

  // Weights of what the output misses of the labels, and has beside them.
  double alpha = 0.5;
  double beta = 0.5;
  // What sums go over, in Keras' counting: the batch is 0; negative from the
  // end. nullopt: everything.
  std::optional<AxisList> axis;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_TVERSKY_H_
