// What Keras' cross-entropies with labels as probabilities share.
#ifndef PACELINE_COMMON_MODEL_LOSSES_CROSSENTROPY_FIELDS_H_
#define PACELINE_COMMON_MODEL_LOSSES_CROSSENTROPY_FIELDS_H_

#include <vector>

#include "common/config/field_table.h"
#include "common/operations/binary_map.h"
#include "common/operations/function.h"

namespace paceline {

// "from_logits", "label_smoothing" and "axis" of loss L.
template <typename L>
std::vector<Field<L>> CrossentropyFields() {
  return {
      Optional("from_logits", &L::from_logits, "Whether the output is logits."),
      Optional("label_smoothing", &L::label_smoothing, Between(0, 1),
               "Share of a label that is spread over the classes."),
      Only("axis", -1, "Axis of the classes.")};
}

// Labels of which the share `smoothing` is spread over yes and no, or over the
// classes along the last axis.
inline op::Tensor SmoothBits(const op::Tensor& labels, double smoothing) {
  return labels * (1 - smoothing) + smoothing / 2;
}
inline op::Tensor SmoothClasses(const op::Tensor& labels, double smoothing) {
  const auto classes = static_cast<double>(labels.dimension(-1));
  return labels * (1 - smoothing) + smoothing / classes;
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_CROSSENTROPY_FIELDS_H_
