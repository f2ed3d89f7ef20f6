// Normalizations, as chains of small nodes. BatchNormalization of ONNX has the
// channels first; runtimes compute the factor of constant statistics once.
#include <cmath>
#include <cstdint>

#include "common/onnx/operation_form.h"
#include "common/operations/channel_normalization.h"
#include "common/operations/group_normalization.h"

namespace paceline {
namespace {

// √(variance + epsilon).
std::string Deviation(const TranslatedCall& call, const std::string& variance,
                      double epsilon) {
  OnnxGraph& graph = call.graph;
  const std::string number = graph.Number(call.output_type(), epsilon);
  return graph.Add("Sqrt", {graph.Add("Add", {variance, number})});
}

// gamma · normalized + beta; either may be absent. They are the inputs from
// `next` on.
std::string ScaledAndMoved(const TranslatedCall& call, std::string normalized,
                           bool has_gamma, bool has_beta, size_t next) {
  OnnxGraph& graph = call.graph;
  if (has_gamma) {
    normalized = graph.Add("Mul", {normalized, call.inputs[next++]});
  }
  if (has_beta) normalized = graph.Add("Add", {normalized, call.inputs[next]});
  return normalized;
}

std::string Clamped(const TranslatedCall& call, const op::Clamp& clamp,
                    std::string value) {
  OnnxGraph& graph = call.graph;
  const auto number = [&](float bound) {
    return graph.Number(call.output_type(), bound);
  };
  if (!std::isnan(clamp.floor)) {
    value = graph.Add("Max", {value, number(clamp.floor)});
  }
  if (!std::isnan(clamp.ceiling)) {
    value = graph.Add("Min", {value, number(clamp.ceiling)});
  }
  return value;
}

TranslatedOutputs TranslateChannelNormalization(const TranslatedCall& call) {
  using Options = op::ChannelNormalizationOptions;
  const Options& options =
      call.operation<op::ChannelNormalizationOperation>().options();
  if (options.is_of_batch()) {
    return absl::UnimplementedError(
        "a normalization by the statistics of a batch has no form in ONNX");
  }
  OnnxGraph& graph = call.graph;
  const std::string centered =
      graph.Add("Sub", {call.inputs[Options::kX], call.inputs[Options::kMean]});
  const std::string zero = graph.Number(call.output_type(), 0);
  const std::string variance =
      graph.Add("Max", {call.inputs[Options::kVariance], zero});
  const std::string normalized =
      graph.Add("Div", {centered, Deviation(call, variance, options.epsilon)});
  return {{Clamped(call, options.clamp,
                   ScaledAndMoved(call, normalized, options.has_gamma,
                                  options.has_beta, Options::kGamma))}};
}

// The mean over positions and the columns of a group: axes of (examples,
// positions, groups, columns of a group).
std::string MeanOfGroups(const TranslatedCall& call, const std::string& x) {
  return call.graph.Add(
      "ReduceMean", {x},
      {IntsAttribute("axes", {1, 3}), IntAttribute("keepdims", 1)});
}

TranslatedOutputs TranslateGroupNormalization(const TranslatedCall& call) {
  const op::GroupNormalizationOptions& options =
      call.operation<op::GroupNormalizationOperation>().options();
  const SymbolicShape shape = call.input_shape(0);
  const int64_t positions = shape[1].size;
  const int64_t columns = shape[2].size;
  if (shape[1].is_batch || shape[2].is_batch) {
    return absl::UnimplementedError(
        "positions and columns of a normalization follow the size of the "
        "batch");
  }
  OnnxGraph& graph = call.graph;
  const std::string x =
      graph.Reshape(call.inputs[0],
                    {-1, positions, options.groups, columns / options.groups});
  const std::string centered = graph.Add("Sub", {x, MeanOfGroups(call, x)});
  const std::string variance =
      MeanOfGroups(call, graph.Add("Mul", {centered, centered}));
  const std::string normalized =
      graph.Add("Div", {centered, Deviation(call, variance, options.epsilon)});
  const std::string joined =
      graph.Reshape(normalized, {-1, positions, columns});
  return {{ScaledAndMoved(call, joined, options.has_gamma, options.has_beta,
                          /*next=*/1)}};
}

constexpr OperationForm kNormalizationForms[] = {
    {op::ChannelNormalizationOperation::kName, TranslateChannelNormalization},
    {op::GroupNormalizationOperation::kName, TranslateGroupNormalization}};

}  // namespace

absl::Span<const OperationForm> NormalizationForms() {
  return kNormalizationForms;
}

}  // namespace paceline
