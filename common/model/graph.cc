#include "common/model/graph.h"

#include <algorithm>

namespace paceline {

int64_t ReaderCount(const Graph& graph, int node) {
  int64_t count = 0;
  for (const Node& each : graph.nodes) {
    count += std::count(each.inputs.begin(), each.inputs.end(), node);
  }
  return count + std::count(graph.outputs.begin(), graph.outputs.end(), node);
}

int64_t FeatureIdCount(const Graph& graph, size_t input) {
  int64_t least = 0;
  for (const Node& node : graph.nodes) {
    const int64_t count = node.layer->id_count();
    if (count == 0 || node.inputs[0] != graph.inputs[input]) continue;
    if (least == 0 || count < least) least = count;
  }
  return least;
}

}  // namespace paceline
