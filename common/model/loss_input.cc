#include "common/model/loss_input.h"

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
  if (!loss.has_logits_form()) return {.node = output};
  int node = output;
  while (HandsOn(*graph.nodes[node].layer, is_training)) {
    node = graph.nodes[node].inputs[0];
  }
  if (MayGiveLogits(graph.nodes[node].layer->final_activation())) {
    return {.node = node, .before_activation = true, .from_logits = true};
  }
  return {.node = output, .from_logits = loss.reads_logits()};
}

}  // namespace paceline
