#include "common/model/loss_paths.h"

#include <cstddef>

#include "common/model/objective.h"

namespace paceline {

std::vector<bool> NodesWithLoss(const v1::Job& job, const Graph& graph) {
  std::vector<bool> has_loss(graph.nodes.size());
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    if (LossOf(job, graph, i) != nullptr) has_loss[graph.outputs[i]] = true;
  }
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    if (node.layer->is_penalty()) has_loss[i] = true;
    if (!has_loss[i] || node.layer->is_mask()) continue;
    for (const int input : node.inputs) has_loss[input] = true;
  }
  return has_loss;
}

std::set<std::string, std::less<>> VariablesWithoutLoss(const v1::Job& job,
                                                        const Graph& graph) {
  std::set<std::string, std::less<>> names;
  // One loss is that of each output.
  if (job.named_losses().empty()) return names;
  for (const VariableSpec& variable : graph.variables) {
    if (!variable.is_trained() || !variable.regularizer.is_zero()) continue;
    names.insert(variable.name);
  }
  const std::vector<bool> has_loss = NodesWithLoss(job, graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!has_loss[i]) continue;
    for (const int variable : graph.nodes[i].variables) {
      names.erase(graph.variables[variable].name);
    }
  }
  return names;
}

}  // namespace paceline
