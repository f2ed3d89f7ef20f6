#include "worker/device/program/loss_inputs.h"

namespace paceline {

LossInputs::LossInputs(const Graph& graph, absl::Span<const OutputSpec> outputs,
                       bool is_training)
    : reads_(graph.nodes.size()) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const LossInput input = ResolveLossInput(graph, graph.outputs[i],
                                             *outputs[i].loss, is_training);
    inputs_.push_back(input);
    if (const int mask = graph.output_masks[i]; mask >= 0) {
      reads_[mask].is_in_float32 = true;
    }
    (input.before_activation ? reads_[input.node].reads_before_activation
                             : reads_[input.node].depends_on_output) = true;
    for (int node = graph.outputs[i];; node = graph.nodes[node].inputs[0]) {
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
