#include "worker/device/program/loss_inputs.h"

namespace paceline {

LossInputs::LossInputs(const Graph& graph, absl::Span<const OutputSpec> outputs,
                       bool is_training)
    : reads_(graph.nodes.size()) {
  for (const OutputSpec& spec : outputs) {
    const int output = graph.outputs[spec.output];
    if (const int mask = graph.output_masks[spec.output]; mask >= 0) {
      reads_[mask].is_in_float32 = true;
    }
    if (spec.loss == nullptr) {
      inputs_.push_back({.node = output});
      reads_[output].is_in_float32 = true;
      continue;
    }
    const LossInput input =
        ResolveLossInput(graph, output, *spec.loss, is_training);
    inputs_.push_back(input);
    (input.before_activation ? reads_[input.node].reads_before_activation
                             : reads_[input.node].depends_on_output) = true;
    for (int node = output;; node = graph.nodes[node].inputs[0]) {
      reads_[node].is_in_float32 = true;
      if (node == input.node) break;
    }
  }
  // Without outputs there is no loss.
  for (size_t i = 0; i < graph.nodes.size() && !outputs.empty(); ++i) {
    if (!graph.nodes[i].layer->is_penalty()) continue;
    reads_[i].depends_on_output = true;
    reads_[i].is_in_float32 = true;
  }
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const LossReads& reads = reads_[i];
    if (!reads.reads_before_activation && !reads.depends_on_output) continue;
    for (const int input : graph.nodes[i].inputs) {
      reads_[input].depends_on_output = true;
    }
  }
}

}  // namespace paceline
