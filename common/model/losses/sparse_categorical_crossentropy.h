// Cross-entropy of classes given by their ids.
//
// Output (classes). Of an example with label y, from logits x: -log
// softmax(x)[y]. From probabilities p: c = clip(p, 1e-7, 1 - 1e-7), -log(c[y] /
// Σ c).
#ifndef PACELINE_COMMON_MODEL_LOSSES_SPARSE_CATEGORICAL_CROSSENTROPY_H_
#define PACELINE_COMMON_MODEL_LOSSES_SPARSE_CATEGORICAL_CROSSENTROPY_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/model/loss.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

class SparseCategoricalCrossentropy : public Loss {
 public:
  static constexpr char kClassName[] = "SparseCategoricalCrossentropy";
  static const FieldTable<SparseCategoricalCrossentropy>& Fields();

  SparseCategoricalCrossentropy() : Loss("sparse_categorical_crossentropy") {}

  absl::string_view class_name() const override { return kClassName; }
  bool has_sparse_labels() const override { return true; }
  bool reads_logits() const override { return from_logits; }
  bool has_logits_form() const override { return true; }
  absl::Status CheckOutput(const Shape& output) const override;
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool reads_from_logits) const override;

  bool from_logits = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_SPARSE_CATEGORICAL_CROSSENTROPY_H_
