// Quadratic for small errors, linear for large ones; the mean over the elements
// of an output of any shape:
//
//   e = output - label
//   e² / 2                       where |e| <= delta
//   delta · (|e| - delta / 2)    elsewhere
//
// Huber (1964), as keras.losses.Huber computes it.
#ifndef PACELINE_COMMON_MODEL_LOSSES_HUBER_H_
#define PACELINE_COMMON_MODEL_LOSSES_HUBER_H_

#include "absl/strings/string_view.h"
#include "common/model/loss.h"

namespace paceline {

template <typename T>
class FieldTable;

class Huber : public Loss {
 public:
  static constexpr char kClassName[] = "Huber";
  static const FieldTable<Huber>& Fields();

  Huber() : Loss("huber_loss") {}

  absl::string_view class_name() const override { return kClassName; }
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool from_logits) const override;

  double delta = 1;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_HUBER_H_
