#include "common/model/lower_output.h"

#include "common/model/class_weights.h"
#include "common/model/loss.h"
#include "common/model/masked_mean.h"
#include "common/operations/binary_map.h"

namespace paceline {
namespace {

op::Tensor LowerElements(const Loss& loss, const OutputTensors& tensors) {
  return loss.Lower(tensors.input, tensors.labels, tensors.from_logits);
}

// The losses of the examples, from those of their elements.
op::Tensor WeightedLosses(const op::Tensor& of_elements,
                          const OutputTensors& tensors) {
  const op::Tensor losses = LossesOfExamples(of_elements, tensors.mask);
  return tensors.weights ? losses * *tensors.weights : losses;
}

}  // namespace

op::Tensor LowerLoss(const OutputSpec& output, bool is_training,
                     const OutputTensors& tensors) {
  const op::Tensor losses =
      WeightedLosses(LowerElements(*output.loss, tensors), tensors);
  if (!is_training || output.class_weights.empty()) return losses;
  return losses * WeightsOfExamples(tensors.labels, output.class_weights,
                                    losses.data_type());
}

op::Tensor LowerMetric(const Metric& metric, const OutputTensors& tensors) {
  const Loss* const loss = metric.mean_of();
  const op::Tensor values = loss != nullptr
                                ? LowerElements(*loss, tensors)
                                : metric.Lower(tensors.input, tensors.labels);
  if (!metric.is_mean()) return values;
  if (metric.is_output_loss()) return WeightedLosses(values, tensors);
  return tensors.mask ? MaskedMeanState(values, *tensors.mask)
                      : MeanOfExamples(values);
}

bool IsMeanOfExamples(const Metric& metric, bool has_mask) {
  return metric.is_mean() && (!has_mask || metric.is_output_loss());
}

}  // namespace paceline
