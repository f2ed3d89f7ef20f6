// What an output of a model is trained and measured by.
#ifndef PACELINE_COMMON_MODEL_OUTPUT_SPEC_H_
#define PACELINE_COMMON_MODEL_OUTPUT_SPEC_H_

#include <memory>

#include "absl/types/span.h"
#include "common/model/loss.h"
#include "common/model/metric.h"

namespace paceline {

// The loss of a model is Σ weight · mean loss over its outputs, and the penalty
// of its regularizers, as in Keras. What is pointed to belongs to others.
struct OutputSpec {
  const Loss* loss = nullptr;
  // Keras' loss_weights.
  double weight = 1;
  // Of the output and its labels. Keras' loss of one output is a MeanLoss among
  // these.
  absl::Span<const std::unique_ptr<const Metric>> metrics = {};
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_OUTPUT_SPEC_H_
