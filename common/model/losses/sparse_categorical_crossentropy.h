// Cross-entropy of classes given by their ids.
//
// Output (..., classes), labels (...). Of a row with label y, from logits x:
// -log softmax(x)[y]. From probabilities p: c = clip(p, 1e-7, 1 - 1e-7),
// -log(c[y] / Σ c).
#ifndef PACELINE_COMMON_MODEL_LOSSES_SPARSE_CATEGORICAL_CROSSENTROPY_H_
#define PACELINE_COMMON_MODEL_LOSSES_SPARSE_CATEGORICAL_CROSSENTROPY_H_

#include <cstdint>
#include <optional>

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
  std::optional<int64_t> ignored_class() const override { return ignore_class; }
  bool reads_logits() const override { return from_logits; }
  // Keras takes ignored elements out of the output before it looks behind it,
  // and so finds no logits.
  bool has_logits_form() const override { return !ignore_class; }
  absl::Status CheckOutput(const Shape& output) const override;
  op::Tensor Lower(const op::Tensor& input, const op::Tensor& labels,
                   bool reads_from_logits) const override;

  bool from_logits = false;
  std::optional<int64_t> ignore_class;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSSES_SPARSE_CATEGORICAL_CROSSENTROPY_H_
