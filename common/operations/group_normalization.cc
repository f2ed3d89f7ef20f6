#include "common/operations/group_normalization.h"

#include <cstddef>
#include <memory>

#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "glog/logging.h"

namespace paceline::op {
namespace {

// The type of gamma, beta and their gradients.
TensorType OfColumns(const TensorType& x) { return {x.type, {x.shape[2]}}; }

// CHECK-fails unless the inputs are x, mean, factor and dy, as gradients read
// them.
void CheckStatistics(absl::Span<const TensorType> inputs) {
  const TensorType& x = inputs[0];
  const TensorType& mean = inputs[1];
  CHECK(IsReal(x.type) && x.shape.size() == 3) << ToString(x);
  CHECK(mean.type == x.type && mean.shape.size() == 2 &&
        mean.shape[0] == x.shape[0] && x.shape[2] % mean.shape[1] == 0)
      << ToString(mean) << " of " << ToString(x);
  CHECK(inputs[2] == mean) << ToString(inputs[2]) << " and " << ToString(mean);
  CHECK(inputs[3] == x) << ToString(inputs[3]) << " and " << ToString(x);
}

}  // namespace

std::vector<TensorType> GroupNormalizationOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  const auto& [type, shape] = inputs[0];
  CHECK(IsReal(type) && shape.size() == 3) << ToString(inputs[0]);
  CHECK(options_.groups > 0 && shape[2] % options_.groups == 0)
      << options_.groups << " groups of " << ToString(inputs[0]);
  CHECK_EQ(inputs.size(),
           1u + size_t{options_.has_gamma} + size_t{options_.has_beta});
  for (const TensorType& of_columns : inputs.subspan(1)) {
    CHECK(of_columns == OfColumns(inputs[0]))
        << ToString(of_columns) << " for " << ToString(inputs[0]);
  }
  const TensorType of_groups = {type, {shape[0], options_.groups}};
  return {inputs[0], of_groups, of_groups};
}

Gradients GroupNormalizationOperation::AddGradient(
    const CallGradient& call) const {
  CHECK(!call.output_gradients[1] && !call.output_gradients[2])
      << "mean and factor pass no gradient";
  const Tensor& x = call.inputs[0];
  const Tensor& dy = *call.output_gradients[0];
  Gradients gradients(call.inputs.size());
  std::vector<Tensor> read = {x, call.outputs[1], call.outputs[2], dy};

  const bool wants_gamma = options_.has_gamma && call.wanted[1];
  const bool wants_beta = options_.has_beta && call.wanted.back();
  if (wants_gamma) {
    const std::vector<Tensor> sums = x.function().AddCall(
        std::make_shared<GroupNormalizationGammaGradientOperation>(wants_beta),
        read);
    gradients[1] = sums[0];
    if (wants_beta) gradients.back() = sums[1];
  } else if (wants_beta) {
    gradients.back() = Reshape(Sum(dy, {0, 1}), {x.dimension(2)});
  }
  if (call.wanted[0]) {
    if (options_.has_gamma) read.push_back(call.inputs[1]);
    gradients[0] = AddCall(GroupNormalizationGradientOperation(), read);
  }
  return gradients;
}

std::vector<TensorType> GroupNormalizationGradientOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  CheckStatistics(inputs);
  if (inputs.size() > 4) {
    CHECK(inputs[4] == OfColumns(inputs[0]))
        << ToString(inputs[4]) << " for " << ToString(inputs[0]);
  }
  return {inputs[0]};
}

std::vector<TensorType> GroupNormalizationGammaGradientOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  CheckStatistics(inputs);
  return std::vector<TensorType>(has_beta_ ? 2 : 1, OfColumns(inputs[0]));
}

Tensor GroupNormalization(const Tensor& x, const std::optional<Tensor>& gamma,
                          const std::optional<Tensor>& beta, int64_t groups,
                          double epsilon) {
  std::vector<Tensor> inputs = {x};
  if (gamma) inputs.push_back(*gamma);
  if (beta) inputs.push_back(*beta);
  return AddCall(GroupNormalizationOperation({.groups = groups,
                                              .epsilon = epsilon,
                                              .has_gamma = gamma.has_value(),
                                              .has_beta = beta.has_value()}),
                 inputs);
}

}  // namespace paceline::op
