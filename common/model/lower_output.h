// The loss and the metrics of an output of a model, as operations.
#ifndef PACELINE_COMMON_MODEL_LOWER_OUTPUT_H_
#define PACELINE_COMMON_MODEL_LOWER_OUTPUT_H_

#include <optional>

#include "common/model/metric.h"
#include "common/model/output_spec.h"
#include "common/operations/function.h"

namespace paceline {

// What a loss or a metric reads of an output.
struct OutputTensors {
  // The output, or what the loss reads in its place (loss_input.h).
  op::Tensor input;
  // As for Loss::Lower.
  op::Tensor labels;
  // Numbers; nullopt: the output has none.
  std::optional<op::Tensor> mask;
  // Of shape (batch); nullopt: OutputSpec::has_sample_weights is false.
  std::optional<op::Tensor> weights;
  bool from_logits = false;
};

// The losses of the examples, of shape (batch), with their weights, in training
// also with those of their classes. Their mean is the loss of the batch, also
// if the weights are in its divisor, which then has those of the whole batch.
op::Tensor LowerLoss(const OutputSpec& output, bool is_training,
                     const OutputTensors& tensors);

// What a batch adds to the state of a metric of the output: if
// IsMeanOfExamples, what each example adds to the total, of shape (batch); else
// all of it, of shape (state_size). In a weighted metric, examples have the
// same weights as in LowerLoss.
op::Tensor LowerMetric(const OutputSpec& output, const Metric& metric,
                       bool is_training, const OutputTensors& tensors);
bool IsMeanOfExamples(const Metric& metric, bool has_mask);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOWER_OUTPUT_H_
