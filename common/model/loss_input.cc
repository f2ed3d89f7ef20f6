#include "common/model/loss_input.h"

#include "common/model/activation.h"

namespace paceline {

LossInput ResolveLossInput(const Graph& graph, const Loss& loss) {
  if (!loss.has_logits_form()) return {};
  const ActivationFunction last =
      graph.nodes[graph.output].layer->final_activation();
  if (last == ActivationFunction::kSoftmax ||
      last == ActivationFunction::kSigmoid) {
    return {.before_activation = true, .from_logits = true};
  }
  return {.before_activation = false, .from_logits = loss.reads_logits()};
}

}  // namespace paceline
