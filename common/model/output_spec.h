// The loss and metrics of an output of a model.
#ifndef PACELINE_COMMON_MODEL_OUTPUT_SPEC_H_
#define PACELINE_COMMON_MODEL_OUTPUT_SPEC_H_

#include <cstddef>
#include <memory>
#include <optional>

#include "absl/types/span.h"
#include "common/model/loss.h"
#include "common/model/metric.h"
#include "common/tensor/class_ids.h"
#include "common/tensor/shape.h"

namespace paceline {

// The loss of a model is Σ weight · mean loss over its outputs, plus the
// penalty of its regularizers, as in Keras. Does not own what it points to.
struct OutputSpec {
  // Index in Graph::outputs.
  size_t output = 0;
  // Null: the output has only metrics, and trains nothing.
  const Loss* loss = nullptr;
  // Keras' loss_weights.
  double weight = 1;
  // Factors of the losses of examples in training (class_weights.h). Empty:
  // none.
  absl::Span<const double> class_weights = {};
  // Whether batches have a weight of each example, a factor of its loss. All
  // outputs of a model have them, or none.
  bool has_sample_weights = false;
  // Metrics of the output and its labels. The loss of a single output, as Keras
  // reports it, is a MeanLoss among these.
  absl::Span<const std::unique_ptr<const Metric>> metrics = {};

  // See Loss::has_sparse_labels. All metrics agree with the loss.
  bool has_sparse_labels() const {
    return loss != nullptr ? loss->has_sparse_labels()
                           : metrics[0]->has_sparse_labels();
  }
  // The shape of an example's labels, for a model's output of shape `output`.
  Shape LabelShape(Shape output) const {
    if (has_sparse_labels()) output.pop_back();
    return output;
  }
  // What these labels may be. ClassIds::count is 0 unless they are ids.
  ClassIds LabelIds(const Shape& output) const {
    if (!has_sparse_labels()) return {};
    return {output.back(),
            loss != nullptr ? loss->ignored_class() : std::nullopt};
  }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_OUTPUT_SPEC_H_
