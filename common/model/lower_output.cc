#include "common/model/lower_output.h"

#include <optional>

#include "common/model/class_weights.h"
#include "common/model/loss.h"
#include "common/model/masked_mean.h"
#include "common/operations/binary_map.h"

namespace paceline {
namespace {

op::Tensor LowerElements(const Loss& loss, const OutputTensors& tensors) {
  return loss.Lower(tensors.input, tensors.labels, tensors.from_logits);
}

// The weights of the examples, of shape (batch). nullopt: 1 each.
std::optional<op::Tensor> WeightsIn(const OutputSpec& output, bool is_training,
                                    const OutputTensors& tensors) {
  if (!is_training || output.class_weights.empty()) return tensors.weights;
  const op::Tensor of_classes = WeightsOfExamples(
      tensors.labels, output.class_weights, tensors.input.data_type());
  return tensors.weights ? *tensors.weights * of_classes : of_classes;
}

}  // namespace

op::Tensor LowerLoss(const OutputSpec& output, bool is_training,
                     const OutputTensors& tensors) {
  const op::Tensor of_elements = LowerElements(*output.loss, tensors);
  return Weighted(LossesOfExamples(of_elements, tensors.mask),
                  WeightsIn(output, is_training, tensors));
}

op::Tensor LowerMetric(const OutputSpec& output, const Metric& metric,
                       bool is_training, const OutputTensors& tensors) {
  const std::optional<op::Tensor> weights =
      metric.is_weighted ? WeightsIn(output, is_training, tensors)
                         : std::nullopt;
  if (!metric.is_mean()) {
    return metric.LowerState(tensors.input, tensors.labels, weights);
  }
  const Loss* const loss = metric.mean_of();
  const op::Tensor values = loss != nullptr
                                ? LowerElements(*loss, tensors)
                                : metric.Lower(tensors.input, tensors.labels);
  if (metric.is_output_loss()) {
    return Weighted(LossesOfExamples(values, tensors.mask), tensors.weights);
  }
  return IsMeanOfExamples(metric, tensors.mask.has_value())
             ? MeanOfExamples(values)
             : MeanState(values, tensors.mask, weights);
}

bool IsMeanOfExamples(const Metric& metric, bool has_mask) {
  return metric.is_mean() &&
         (metric.is_output_loss() || (!has_mask && !metric.is_weighted));
}

}  // namespace paceline
