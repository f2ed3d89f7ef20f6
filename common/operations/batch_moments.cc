#include "common/operations/batch_moments.h"

#include "common/operations/binary_map.h"
#include "common/operations/cast.h"
#include "common/operations/sum_over_replicas.h"
#include "glog/logging.h"

namespace paceline::op {

std::vector<TensorType> BatchMomentsOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  const auto& [type, shape] = inputs[0];
  CHECK(IsReal(type) && !shape.empty()) << ToString(inputs[0]);
  const TensorType of_channels = {DataType::kFloat64, {shape.back()}};
  return {{DataType::kFloat64, {}}, of_channels, of_channels};
}

Gradients BatchMomentsOperation::AddGradient(const CallGradient& call) const {
  const Tensor& x = call.inputs[0];
  const Tensor& count = call.outputs[0];
  const Tensor& mean = call.outputs[1];
  const auto gradient_or_zeros = [&](int output) {
    const std::optional<Tensor>& gradient = call.output_gradients[output];
    return gradient ? *gradient : Full(x.function(), mean.type(), 0);
  };
  Tensor by_mean = gradient_or_zeros(1);
  Tensor by_variance = gradient_or_zeros(2);
  if (over_replicas_) {
    const std::vector<Tensor> sums = SumOverReplicas({by_mean, by_variance});
    by_mean = sums[0];
    by_variance = sums[1];
  }
  const Tensor through_mean = Cast(by_mean / count, x.data_type());
  const Tensor factor = Cast(by_variance * 2 / count, x.data_type());
  const Tensor through_variance = (x - Cast(mean, x.data_type())) * factor;
  return {through_variance + through_mean};
}

Moments BatchMoments(const Tensor& x, bool over_replicas) {
  const std::vector<Tensor> outputs = x.function().AddCall(
      std::make_shared<BatchMomentsOperation>(over_replicas), {x});
  return {outputs[0], outputs[1], outputs[2]};
}

}  // namespace paceline::op
