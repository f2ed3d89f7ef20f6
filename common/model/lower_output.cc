#include "common/model/lower_output.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "common/model/class_weights.h"
#include "common/model/loss.h"
#include "common/model/masked_mean.h"
#include "common/operations/binary_map.h"
#include "common/operations/broadcast.h"
#include "common/operations/cast.h"
#include "common/operations/class_ids.h"
#include "common/operations/compare.h"
#include "common/operations/constant.h"
#include "common/operations/map.h"
#include "common/operations/reshape.h"
#include "common/operations/select.h"
#include "common/operations/slice.h"

namespace paceline {
namespace {

// Of a loss: the sum of the losses is divided by that of the weights.
constexpr char kMeanWithWeights[] = "mean_with_sample_weight";

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

// What `loss` counts of the elements of an output: by the output's mask, and by
// the class that it ignores. nullopt: all.
std::optional<op::Tensor> MaskOf(const Loss& loss,
                                 const OutputTensors& tensors) {
  const std::optional<int64_t> ignored = loss.ignored_class();
  if (!ignored) return tensors.mask;
  const DataType type = tensors.input.data_type();
  const op::Tensor counted =
      op::Cast(op::Not(op::IsId(tensors.labels, *ignored, type)), type);
  if (!tensors.mask) return counted;
  Shape shape = tensors.mask->shape();
  shape.resize(counted.rank(), 1);
  return counted * op::Reshape(*tensors.mask, std::move(shape));
}

// The mean of the elements that count, by the weights of their examples, for
// each example alike; 0 if the weights add up to 0. Source:
// keras/src/losses/loss.py, reduce_values.
op::Tensor MeanByWeights(const op::Tensor& of_elements,
                         const std::optional<op::Tensor>& mask,
                         const op::Tensor& weights) {
  const op::Tensor state = MeanState(of_elements, mask, weights);
  const op::Tensor total = op::SliceAxis(state, 0, 0, 1);
  const op::Tensor count = op::SliceAxis(state, 0, 1, 1);
  const op::Tensor is_zero = op::Equal(count, 0);
  const op::Tensor divisor =
      op::Select(is_zero, op::ConstantLike(count, 1), count);
  const op::Tensor mean =
      op::Select(is_zero, op::ConstantLike(count, 0), total / divisor);
  return op::Broadcast(mean, weights.shape());
}

// The losses of examples, from those of their elements.
op::Tensor LowerExamples(const Loss& loss, const op::Tensor& of_elements,
                         const std::optional<op::Tensor>& mask,
                         const std::optional<op::Tensor>& weights) {
  if (weights && loss.reduction == kMeanWithWeights) {
    return MeanByWeights(of_elements, mask, *weights);
  }
  return Weighted(LossesOfExamples(of_elements, mask), weights);
}

}  // namespace

op::Tensor LowerLoss(const OutputSpec& output, bool is_training,
                     const OutputTensors& tensors) {
  const Loss& loss = *output.loss;
  return LowerExamples(loss, LowerElements(loss, tensors),
                       MaskOf(loss, tensors),
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
    return LowerExamples(*loss, values, MaskOf(*loss, tensors),
                         tensors.weights);
  }
  if (IsMeanOfExamples(metric, tensors.mask.has_value())) {
    return MeanOfExamples(values);
  }
  // As in Keras, an ignored class counts, with losses of 0, unless something
  // else weighs the elements.
  const bool ignores = loss != nullptr && (tensors.mask || weights);
  return MeanState(values, ignores ? MaskOf(*loss, tensors) : tensors.mask,
                   weights);
}

bool IsMeanOfExamples(const Metric& metric, bool has_mask) {
  return metric.is_mean() &&
         (metric.is_output_loss() || (!has_mask && !metric.is_weighted));
}

}  // namespace paceline
