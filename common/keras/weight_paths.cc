#include "common/keras/weight_paths.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/model/keras_names.h"
#include "common/model/layers/input_layer.h"

namespace paceline {
namespace {

// What a depth-first walk from the output finds.
struct Walk {
  // By node: when the walk met it.
  std::vector<int> met;
  // The nodes as the walk left them, inputs before their readers.
  std::vector<int> left;
};

// Without recursion, since a model may be thousands of layers deep.
Walk WalkFromOutputs(const Graph& graph) {
  Walk walk;
  walk.met.assign(graph.nodes.size(), -1);
  int met_count = 0;
  for (const int output : graph.outputs) {
    // Each node with the index of its input that comes next.
    std::vector<std::pair<int, size_t>> stack;
    const auto meet = [&](int node) {
      if (walk.met[node] >= 0) return;
      walk.met[node] = met_count++;
      stack.push_back({node, 0});
    };
    meet(output);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      const std::vector<int>& inputs = graph.nodes[node].inputs;
      if (next < inputs.size()) {
        meet(inputs[next++]);
      } else {
        walk.left.push_back(node);
        stack.pop_back();
      }
    }
  }
  return walk;
}

}  // namespace

std::vector<int> KerasLayerOrder(const Graph& graph, bool is_sequential) {
  std::vector<int> order;
  if (is_sequential) {
    for (size_t node = 0; node < graph.nodes.size(); ++node) {
      const Layer& layer = *graph.nodes[node].layer;
      if (layer.class_name() == InputLayer::kClassName) continue;
      order.push_back(static_cast<int>(node));
    }
    return order;
  }
  const Walk walk = WalkFromOutputs(graph);
  std::vector<int> depth(graph.nodes.size());
  for (auto node = walk.left.rbegin(); node != walk.left.rend(); ++node) {
    for (const int input : graph.nodes[*node].inputs) {
      depth[input] = std::max(depth[input], depth[*node] + 1);
    }
  }
  order = walk.left;
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(-depth[a], walk.met[a]) <
           std::pair(-depth[b], walk.met[b]);
  });
  return order;
}

std::vector<std::string> WeightPaths(const Graph& graph, bool is_sequential) {
  std::vector<std::string> paths(graph.variables.size());
  std::map<std::string, int> counts;
  for (const int index : KerasLayerOrder(graph, is_sequential)) {
    const Node& node = graph.nodes[index];
    const std::string stem = ToSnakeCase(node.layer->class_name());
    const int count = counts[stem]++;
    const std::string name = count == 0 ? stem : absl::StrCat(stem, "_", count);
    for (size_t i = 0; i < node.variables.size(); ++i) {
      paths[node.variables[i]] = absl::StrCat("layers/", name, "/vars/", i);
    }
  }
  return paths;
}

}  // namespace paceline
