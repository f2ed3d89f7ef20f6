#include "common/model/graph_masks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/model/layers/mask_layers.h"
#include "common/tensor/shape.h"

namespace paceline {

void GraphMasks::AddInputs(Node& node) const {
  if (!node.layer->reads_masks()) return;
  const std::vector<int> inputs = node.inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int mask = Of(inputs[i]);
    if (mask < 0) continue;
    node.inputs.push_back(mask);
    node.masked_inputs.push_back(static_cast<int>(i));
  }
}

absl::Status GraphMasks::AddOutput() {
  const auto index = static_cast<int>(graph_.nodes.size()) - 1;
  const Node& node = graph_.nodes[index];
  std::vector<Shape> inputs;
  std::vector<std::optional<Shape>> masks;
  for (size_t i = 0; i < node.layer_input_count(); ++i) {
    const int mask = Of(node.inputs[i]);
    inputs.push_back(graph_.nodes[node.inputs[i]].output_shape);
    masks.push_back(mask < 0 ? std::nullopt
                             : std::optional(graph_.nodes[mask].output_shape));
  }
  ASSIGN_OR_RETURN(OutputMask output, node.layer->ComputeMask({inputs, masks}));
  ASSIGN_OR_RETURN(Mask mask, MakeMask(index, std::move(output)));
  masks_.resize(graph_.nodes.size());
  masks_[index] = std::move(mask);
  return absl::OkStatus();
}

absl::StatusOr<GraphMasks::Mask> GraphMasks::MakeMask(int node,
                                                      OutputMask output) {
  const std::vector<int> inputs(
      graph_.nodes[node].inputs.begin(),
      graph_.nodes[node].inputs.begin() +
          static_cast<ptrdiff_t>(graph_.nodes[node].layer_input_count()));
  const std::string name =
      absl::StrCat(graph_.nodes[node].layer->name, "/mask");
  Mask mask;
  switch (output.kind) {
    case OutputMask::Kind::kNone:
      return mask;
    case OutputMask::Kind::kOfFirstInput:
      return MaskOf(inputs[0]);
    case OutputMask::Kind::kAnyOfInputs: {
      mask = AnyOf(node);
      std::set<int> distinct;
      for (const int input : inputs) distinct.insert(Of(input));
      if (distinct.size() == 1) {
        mask.node = *distinct.begin();
        return mask;
      }
      ASSIGN_OR_RETURN(mask.node, AddNode(std::make_unique<AnyMask>(), name,
                                          {distinct.begin(), distinct.end()}));
      return mask;
    }
    case OutputMask::Kind::kFromInput: {
      mask.paths = {{inputs[0], output.operation_count}};
      ASSIGN_OR_RETURN(mask.node,
                       AddMade(std::move(output.layer), name, inputs[0]));
      mask.made = {mask.node};
      return mask;
    }
    case OutputMask::Kind::kFromMasks: {
      std::vector<int> read;
      for (const int input : inputs) {
        const Mask& of_input = MaskOf(input);
        // The values of the input count as well: Keras makes a tensor of its
        // shape, which takes one operation; to a mask it adds an axis first.
        mask.paths.push_back(
            {input, output.operation_count - (of_input.node < 0 ? 1 : 0)});
        if (of_input.node < 0) continue;
        read.push_back(of_input.node);
        mask.made.insert(of_input.made.begin(), of_input.made.end());
        for (const Path& path : of_input.paths) {
          mask.paths.push_back(
              {path.node, path.operation_count + output.operation_count});
        }
      }
      ASSIGN_OR_RETURN(mask.node,
                       AddNode(std::move(output.layer), name, std::move(read)));
      return mask;
    }
  }
  return mask;
}

absl::StatusOr<int> GraphMasks::AddNode(std::unique_ptr<Layer> layer,
                                        const std::string& name,
                                        std::vector<int> inputs) {
  layer->name = name;
  Node node;
  node.layer = layer.get();
  std::vector<Shape> shapes;
  for (const int input : inputs) {
    shapes.push_back(graph_.nodes[input].output_shape);
  }
  node.inputs = std::move(inputs);
  ASSIGN_OR_RETURN(node.output_shape, layer->OutputShape(shapes));
  graph_.layers.push_back(std::move(layer));
  graph_.nodes.push_back(std::move(node));
  return static_cast<int>(graph_.nodes.size()) - 1;
}

absl::StatusOr<int> GraphMasks::AddMade(std::unique_ptr<Layer> layer,
                                        const std::string& name, int input) {
  for (const int made : made_) {
    const auto& other =
        static_cast<const DiffersMask&>(*graph_.nodes[made].layer);
    if (graph_.nodes[made].inputs[0] == input &&
        other.IsSameAs(static_cast<const DiffersMask&>(*layer))) {
      return made;
    }
  }
  ASSIGN_OR_RETURN(made_.emplace_back(),
                   AddNode(std::move(layer), name, {input}));
  return made_.back();
}

// Keras computes (mask 0 or mask 1) or mask 2 …
GraphMasks::Mask GraphMasks::AnyOf(int node) const {
  Mask any;
  const auto count = static_cast<int>(graph_.nodes[node].layer_input_count());
  for (int i = 0; i < count; ++i) {
    const Mask& mask = MaskOf(graph_.nodes[node].inputs[i]);
    any.made.insert(mask.made.begin(), mask.made.end());
    for (const Path& path : mask.paths) {
      const int more = count - std::max(i, 1);
      any.paths.push_back({path.node, path.operation_count + more});
    }
  }
  return any;
}

void GraphMasks::HideOrigin(int node) {
  if (Of(node) < 0) return;
  masks_[node].made = {node};
  masks_[node].paths.clear();
}

int GraphMasks::Of(int node) const { return MaskOf(node).node; }

absl::Status GraphMasks::CheckMakers(const ModelTree::Child& child,
                                     const std::vector<int>& makers,
                                     const ModelTree& tree) const {
  if (makers.empty()) return absl::OkStatus();
  std::set<int> named;
  for (const int maker : makers) named.insert(Of(tree.children[maker].node));
  std::set<int> found;
  for (const int input : child.inputs) {
    const Mask& mask = MaskOf(tree.children[input].node);
    found.insert(mask.made.begin(), mask.made.end());
  }
  if (named == found) return absl::OkStatus();
  const auto add_name = [this](std::string* text, int made) {
    absl::StrAppend(text, "\"", graph_.nodes[made].layer->name, "\"");
  };
  return absl::UnimplementedError(absl::StrCat(
      "a mask other than that of the input is not supported yet; the input's "
      "comes from ",
      found.empty() ? "no layer" : absl::StrJoin(found, ", ", add_name)));
}

std::vector<ModelTree::MaskPath> GraphMasks::PathsTo(
    const ModelTree::Child& child, const ModelTree& tree) const {
  std::vector<ModelTree::MaskPath> paths;
  if (child.layer != nullptr && !child.layer->has_mask_argument()) return paths;
  for (const int input : child.inputs) {
    for (const Path& path : MaskOf(tree.children[input].node).paths) {
      const auto source = std::find_if(
          tree.children.begin(), tree.children.end(),
          [&](const ModelTree::Child& each) { return each.node == path.node; });
      if (source == tree.children.end()) continue;
      paths.push_back({static_cast<int>(source - tree.children.begin()),
                       path.operation_count});
    }
  }
  return paths;
}

const GraphMasks::Mask& GraphMasks::MaskOf(int node) const {
  static const auto& none = *new Mask();
  return static_cast<size_t>(node) < masks_.size() ? masks_[node] : none;
}

}  // namespace paceline
