#include "common/model/loss_input.h"

#include "absl/strings/str_cat.h"

namespace paceline {

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
  while (graph.nodes[node].layer->IsIdentity(is_training)) {
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
