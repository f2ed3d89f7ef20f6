#include "common/keras/weight_paths.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/model/keras_names.h"

namespace paceline {
namespace {

// The child that has the layer of a call.
int CalleeOf(const ModelTree& model, int child) {
  const int callee = model.children[child].callee;
  return callee < 0 ? child : callee;
}

// What a depth-first walk from the output finds.
struct Walk {
  // By child of the model: when the walk met it, or a further call of it.
  std::vector<int> met;
  // The children as the walk left them, inputs before their readers.
  std::vector<int> left;
};

// Without recursion, since a model may be thousands of layers deep.
Walk WalkFromOutputs(const ModelTree& model) {
  Walk walk;
  walk.met.assign(model.children.size(), -1);
  std::vector<bool> is_visited(model.children.size());
  int met_count = 0;
  for (const ModelTree::Source& output : model.outputs) {
    // Each child with the index of its input that comes next.
    std::vector<std::pair<int, size_t>> stack;
    const auto meet = [&](int child) {
      if (is_visited[child]) return;
      is_visited[child] = true;
      int& met = walk.met[CalleeOf(model, child)];
      if (met < 0) met = met_count++;
      stack.push_back({child, 0});
    };
    meet(output.child);
    while (!stack.empty()) {
      auto& [child, next] = stack.back();
      const std::vector<ModelTree::Source>& inputs =
          model.children[child].inputs;
      if (next < inputs.size()) {
        meet(inputs[next++].child);
      } else {
        walk.left.push_back(child);
        stack.pop_back();
      }
    }
  }
  return walk;
}

// Adds the paths of a model's variables, below `group`.
void AddPaths(const ModelTree& model, KerasRelease release,
              const std::string& group, std::vector<WeightPath>& paths) {
  std::map<std::string, int> counts;
  for (const int index : KerasLayerOrder(model, release)) {
    const ModelTree::Child& child = model.children[index];
    const std::string stem = ToSnakeCase(child.class_name());
    const int count = counts[stem]++;
    const std::string place =
        count == 0 ? absl::StrCat(group, "layers/", stem)
                   : absl::StrCat(group, "layers/", stem, "_", count);
    if (child.model != nullptr) {
      AddPaths(*child.model, release, absl::StrCat(place, "/"), paths);
    }
    for (size_t i = 0; i < child.variables.size(); ++i) {
      paths.push_back(
          {child.variables[i],
           absl::StrCat(place, "/",
                        child.layer->WeightPath(static_cast<int>(i)))});
    }
  }
}

}  // namespace

std::vector<int> KerasLayerOrder(const ModelTree& model, KerasRelease release) {
  std::vector<int> order;
  if (model.is_sequential) {
    for (size_t child = 0; child < model.children.size(); ++child) {
      if (model.children[child].inputs.empty()) continue;
      order.push_back(static_cast<int>(child));
    }
    return order;
  }
  const Walk walk = WalkFromOutputs(model);
  // By child: of this call, and of the layer so far.
  std::vector<int> depth(model.children.size());
  std::vector<int> layer_depth(model.children.size());
  for (auto child = walk.left.rbegin(); child != walk.left.rend(); ++child) {
    const int callee = CalleeOf(model, *child);
    depth[*child] = std::max(depth[*child], layer_depth[callee]);
    layer_depth[callee] = depth[*child];
    for (const ModelTree::Source& input : model.children[*child].inputs) {
      depth[input.child] = std::max(depth[input.child], depth[*child] + 1);
    }
    if (release == KerasRelease::k2) continue;
    for (const auto& [source, operation_count] :
         model.children[*child].mask_paths) {
      depth[source] =
          std::max(depth[source], depth[*child] + operation_count + 1);
    }
  }
  for (const int child : walk.left) {
    if (model.children[child].callee < 0) order.push_back(child);
  }
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(-layer_depth[a], walk.met[a]) <
           std::pair(-layer_depth[b], walk.met[b]);
  });
  return order;
}

std::vector<WeightPath> WeightPaths(const ModelTree& model,
                                    KerasRelease release) {
  std::vector<WeightPath> paths;
  AddPaths(model, release, "", paths);
  return paths;
}

}  // namespace paceline
