#include "common/operations/channel_normalization.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "common/operations/cast.h"
#include "common/operations/sum_over_replicas.h"
#include "glog/logging.h"

namespace paceline::op {
namespace {

using Options = ChannelNormalizationOptions;

constexpr DataType kDouble = DataType::kFloat64;

bool IsOfChannels(const TensorType& tensor, DataType type,
                  const TensorType& x) {
  return tensor.type == type && tensor.shape.size() == 1 &&
         tensor.shape[0] == x.shape.back();
}

void CheckCount(const TensorType& count) {
  CHECK(count.type == kDouble && count.shape.empty()) << ToString(count);
}

Tensor Normalize(Options options, std::vector<Tensor> statistics,
                 const GammaAndBeta& variables,
                 const std::optional<Tensor>& count) {
  options.has_gamma = variables.gamma.has_value();
  options.has_beta = variables.beta.has_value();
  std::vector<Tensor> inputs = std::move(statistics);
  for (const std::optional<Tensor>& more :
       {variables.gamma, variables.beta, count}) {
    if (more) inputs.push_back(*more);
  }
  return AddCall(ChannelNormalizationOperation(options), inputs);
}

}  // namespace

void ChannelOperation::CheckInputs(absl::Span<const TensorType> inputs,
                                   int more) const {
  const TensorType& x = inputs[0];
  CHECK(IsReal(x.type) && !x.shape.empty()) << ToString(x);
  const int next = options().next_input();
  CHECK_EQ(inputs.size(), static_cast<size_t>(next + more)) << name();
  for (int i = 1; i < next; ++i) {
    const bool is_moment = i < Options::kGamma && options().is_of_batch();
    CHECK(IsOfChannels(inputs[i], is_moment ? kDouble : x.type, x))
        << name() << " of " << ToString(x) << ": input " << i << " is "
        << ToString(inputs[i]);
  }
}

std::vector<TensorType> ChannelNormalizationOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  CheckInputs(inputs, options().is_of_batch() ? 1 : 0);
  if (options().is_of_batch()) CheckCount(inputs.back());
  return {inputs[0]};
}

std::vector<TensorType> ChannelGradientSumsOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  CheckInputs(inputs, 1);
  CHECK(inputs.back() == inputs[0]) << ToString(inputs.back());
  const TensorType sum = {kDouble, {inputs[0].shape.back()}};
  return {sum, sum};
}

std::vector<TensorType> ChannelNormalizationGradientOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  CheckInputs(inputs, options().is_of_batch() ? 4 : 1);
  const int next = options().next_input();
  const TensorType& x = inputs[0];
  CHECK(inputs[next] == x) << ToString(inputs[next]);
  if (options().is_of_batch()) {
    CheckCount(inputs[next + 1]);
    for (int i = next + 2; i < next + 4; ++i) {
      CHECK(IsOfChannels(inputs[i], kDouble, x)) << ToString(inputs[i]);
    }
  }
  return {x};
}

Gradients ChannelNormalizationOperation::AddGradient(
    const CallGradient& call) const {
  const int next = options().next_input();
  const bool wants_gamma = options().has_gamma && call.wanted[Options::kGamma];
  const bool wants_beta =
      options().has_beta && call.wanted[options().beta_input()];
  std::vector<Tensor> inputs(call.inputs.begin(), call.inputs.begin() + next);
  inputs.push_back(*call.output_gradients[0]);
  Gradients gradients(call.inputs.size());
  if (options().is_of_batch() || wants_gamma || wants_beta) {
    std::vector<Tensor> sums = call.inputs[0].function().AddCall(
        std::make_shared<const ChannelGradientSumsOperation>(options()),
        inputs);
    const DataType type = call.inputs[Options::kX].data_type();
    if (wants_gamma) gradients[Options::kGamma] = Cast(sums[1], type);
    if (wants_beta) gradients[options().beta_input()] = Cast(sums[0], type);
    if (options().is_of_batch()) {
      if (options().statistics == ChannelStatistics::kOfAllBatches) {
        sums = SumOverReplicas(sums);
      }
      inputs.insert(inputs.end(), {call.inputs[next], sums[0], sums[1]});
    }
  }
  if (call.wanted[Options::kX]) {
    gradients[Options::kX] =
        AddCall(ChannelNormalizationGradientOperation(options()), inputs);
  }
  CHECK(options().is_of_batch() ||
        (!call.wanted[Options::kMean] && !call.wanted[Options::kVariance]))
      << "given statistics have no gradient";
  return gradients;
}

Tensor NormalizeChannels(const Tensor& x, const Tensor& mean,
                         const Tensor& variance, const GammaAndBeta& variables,
                         double epsilon) {
  return Normalize({.epsilon = epsilon, .clamp = {}}, {x, mean, variance},
                   variables, std::nullopt);
}

Tensor NormalizeByBatch(const Tensor& x, const Moments& moments,
                        bool over_replicas, const GammaAndBeta& variables,
                        double epsilon) {
  return Normalize(
      {.statistics = over_replicas ? ChannelStatistics::kOfAllBatches
                                   : ChannelStatistics::kOfBatch,
       .epsilon = epsilon,
       .clamp = {}},
      {x, moments.mean, moments.variance}, variables, moments.count);
}

Tensor ClampNormalization(const Tensor& normalized, const Clamp& clamp) {
  Function& function = normalized.function();
  const auto call =
      std::find_if(function.calls().begin(), function.calls().end(),
                   [&normalized](const Call& each) {
                     return each.outputs[0] == normalized.id();
                   });
  CHECK(call != function.calls().end() &&
        call->operation->name() == ChannelNormalizationOperation::kName);
  Options options =
      static_cast<const ChannelNormalizationOperation&>(*call->operation)
          .options();
  options.clamp = clamp;
  std::vector<Tensor> inputs;
  for (const int input : call->inputs) {
    inputs.push_back(function.tensor(input));
  }
  return AddCall(ChannelNormalizationOperation(options), inputs);
}

}  // namespace paceline::op
