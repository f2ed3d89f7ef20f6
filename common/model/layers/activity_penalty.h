// The penalty on the output of a layer. The graph adds it behind each call of a
// layer that has one; it is in no configuration.
#ifndef PACELINE_COMMON_MODEL_LAYERS_ACTIVITY_PENALTY_H_
#define PACELINE_COMMON_MODEL_LAYERS_ACTIVITY_PENALTY_H_

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/model/regularizer.h"
#include "common/tensor/shape.h"

namespace paceline {

// l1·Σ|x| + l2·Σx² of each example: its output has the shape (batch). Keras
// adds the sum over a batch, divided by the number of its examples, to the
// loss; so each example's penalty counts as an example's loss does.
class ActivityPenalty : public Layer {
 public:
  // Its factors must not both be 0.
  explicit ActivityPenalty(Regularizer regularizer)
      : regularizer_(std::move(regularizer)) {}

  absl::string_view class_name() const override { return "ActivityPenalty"; }
  bool is_penalty() const override { return true; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

 private:
  const Regularizer regularizer_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_ACTIVITY_PENALTY_H_
