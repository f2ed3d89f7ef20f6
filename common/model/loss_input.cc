#include "common/model/loss_input.h"

#include "absl/strings/str_cat.h"
#include "common/model/layers/activation.h"
#include "common/model/layers/dropout.h"

namespace paceline {
namespace {

// Whether the layer is the identity.
bool HandsOn(const Layer& layer, bool is_training) {
  if (layer.class_name() == Dropout::kClassName) {
    return !is_training || static_cast<const Dropout&>(layer).rate == 0;
  }
  return layer.class_name() == Activation::kClassName &&
         layer.final_activation() == ActivationFunction::kLinear;
}

}  // namespace

bool MayGiveLogits(ActivationFunction activation) {
  return activation == ActivationFunction::kSoftmax ||
         activation == ActivationFunction::kSigmoid;
}

LossInput ResolveLossInput(const Graph& graph, int output, const Loss& loss,
                           bool is_training) {
  const LossInput from_output = {.node = output,
                                 .from_logits = loss.reads_logits()};
  if (!loss.has_logits_form()) return from_output;
  int node = output;
  while (HandsOn(*graph.nodes[node].layer, is_training)) {
    node = graph.nodes[node].inputs[0];
  }
  if (MayGiveLogits(graph.nodes[node].layer->final_activation())) {
    return {.node = node, .before_activation = true, .from_logits = true};
  }
  return from_output;
}

absl::Status CheckLossInput(const Graph& graph, int output, const Loss& loss) {
  const LossInput input =
      ResolveLossInput(graph, output, loss, /*is_training=*/false);
  const ActivationFunction activation =
      graph.nodes[input.node].layer->final_activation();
  if (!input.before_activation || loss.AcceptsLogitsOf(activation)) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(absl::StrCat(
      loss.class_name(), " of a ", ActivationFunctionName(activation),
      " is not supported; give it probabilities of another activation"));
}

}  // namespace paceline
