#include "common/model/graph_masks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/model/keras_operator.h"
#include "common/model/layers/dot.h"
#include "common/model/layers/mask_layers.h"
#include "common/model/layers/multi_head_attention.h"
#include "common/model/layers/softmax.h"
#include "common/model/layers/time_distributed.h"
#include "common/tensor/shape.h"

namespace paceline {
namespace {

// Each node keeps those of its mask.
constexpr size_t kMaxSources = 256;

// Adds a path from a node to those of a mask.
void AddPath(int node, int operation_count, std::map<int, int>& paths) {
  int& longest = paths[node];
  longest = std::max(longest, operation_count);
}

// Whether the masks of inputs matter to a layer or to the mask of its output.
bool UsesMasks(const Layer& layer) {
  return layer.reads_masks() || layer.passes_mask() || layer.is_merge();
}

bool HasMaskArgument(const ModelTree::Child& child) {
  return child.layer == nullptr || child.layer->has_mask_argument();
}

// Whether Keras records no mask for calls of it that have keywords.
bool MayBeUnmasked(const ModelTree::Child& child) {
  return child.layer == nullptr ? child.model->is_sequential
                                : child.layer->has_mask_argument();
}

// Whether it was given its argument `mask` by hand.
bool HasGivenMask(const Layer& layer) {
  return layer.has_mask_argument() && !layer.keyword_inputs().empty();
}

// Whether Keras computes the output of a call that is given no mask by hand
// from the mask of its input. Ours does not for Softmax.
bool ReadsMaskInKeras(const Layer& layer) {
  if (layer.class_name() == TimeDistributed::kClassName) {
    return ReadsMaskInKeras(*static_cast<const TimeDistributed&>(layer).layer);
  }
  return layer.reads_masks() || layer.class_name() == Softmax::kClassName;
}

bool IsAttention(const Layer& layer) {
  return layer.class_name() == MultiHeadAttention::kClassName;
}

}  // namespace

absl::StatusOr<int> GraphMasks::AddNode(Node node,
                                        const ModelTree::Child& child) {
  if (OperatorOf(child)) {
    graph_.nodes.push_back(std::move(node));
    return static_cast<int>(graph_.nodes.size()) - 1;
  }
  const Layer& layer = *node.layer;
  const std::vector<int> inputs = node.inputs;
  const size_t sequence_count = inputs.size() - layer.keyword_inputs().size();
  std::vector<const Mask*> recorded;
  std::vector<const Mask*> running;
  Masks masks;
  for (size_t i = 0; i < inputs.size(); ++i) {
    recorded.push_back(i < sequence_count ? &Recorded(inputs[i]) : &NoMask());
    running.push_back(recorded.back());
    if (i >= sequence_count) continue;
    if (!layer.has_mask_argument() || child.is_unmasked ||
        recorded.back()->node < 0) {
      ASSIGN_OR_RETURN(running.back(), Running(inputs[i], layer, inputs));
      masks.are_used = UsesMasks(layer);
    }
    if (!layer.reads_masks() || running.back()->node < 0) continue;
    node.inputs.push_back(running.back()->node);
    node.masked_inputs.push_back(static_cast<int>(i));
  }
  ASSIGN_OR_RETURN(
      masks.softmax,
      SoftmaxBefore(layer, absl::MakeSpan(inputs).first(sequence_count)));
  graph_.nodes.push_back(std::move(node));
  const auto index = static_cast<int>(graph_.nodes.size()) - 1;
  if (HasGivenMask(layer)) masks.softmax = index;
  ASSIGN_OR_RETURN(masks.recorded, MakeMask(layer, inputs, recorded));
  masks.running = masks.recorded;
  const bool are_same = std::equal(
      recorded.begin(), recorded.end(), running.begin(),
      [](const Mask* a, const Mask* b) { return a->node == b->node; });
  if (!are_same) {
    ASSIGN_OR_RETURN(masks.running, MakeMask(layer, inputs, running));
  }
  for (const Mask* mask : {&masks.recorded, &masks.running}) {
    if (std::max(mask->paths.size(), mask->made.size()) <= kMaxSources)
      continue;
    return absl::UnimplementedError(
        absl::StrCat("a mask that depends on more than ", kMaxSources,
                     " layers is not supported"));
  }
  masks_.resize(graph_.nodes.size());
  masks_[index] = std::move(masks);
  if (IsAttention(layer)) {
    RETURN_IF_ERROR(
        Attend(index, absl::MakeSpan(inputs).first(sequence_count)));
  }
  return index;
}

absl::StatusOr<int> GraphMasks::SoftmaxBefore(
    const Layer& layer, absl::Span<const int> inputs) const {
  int passed = -1;
  for (const int input : inputs) {
    const int softmax = Of(input).softmax;
    // As a merge, Dot has no mask.
    if (softmax < 0 || HasGivenMask(layer) ||
        layer.class_name() == Dot::kClassName) {
      continue;
    }
    if (ReadsMaskInKeras(layer) || layer.is_merge()) {
      return absl::UnimplementedError(absl::StrCat(
          "it reads the mask that was given to \"",
          graph_.nodes[softmax].layer->name, "\", which is not supported yet"));
    }
    if (UsesMasks(layer)) passed = softmax;
  }
  return passed;
}

absl::Status GraphMasks::CheckModelOutput(int node) const {
  if (Of(node).softmax < 0) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "the mask that was given to \"",
      graph_.nodes[Of(node).softmax].layer->name,
      "\" is that of an output of the model, which is not supported yet"));
}

void GraphMasks::EnterModel(const std::vector<int>& inputs) {
  model_inputs_.emplace_back(inputs.begin(), inputs.end());
}

void GraphMasks::LeaveModel(absl::Span<const int> outputs) {
  model_inputs_.pop_back();
  for (const int output : outputs) {
    if (static_cast<size_t>(output) >= masks_.size()) continue;
    masks_[output].recorded = Mask();
  }
}

int GraphMasks::OfModelOutput(int node) const {
  return Of(node).attended.empty() ? Of(node).running.node : -1;
}

const GraphMasks::Mask& GraphMasks::NoMask() {
  static const auto& none = *new Mask();
  return none;
}

const GraphMasks::Masks& GraphMasks::Of(int node) const {
  static const auto& none = *new Masks();
  return static_cast<size_t>(node) < masks_.size() ? masks_[node] : none;
}

const GraphMasks::Mask& GraphMasks::Recorded(int node) const {
  const bool is_of_model_around =
      !model_inputs_.empty() && model_inputs_.back().contains(node);
  return is_of_model_around ? NoMask() : Of(node).recorded;
}

absl::StatusOr<const GraphMasks::Mask*> GraphMasks::Running(
    int input, const Layer& layer, absl::Span<const int> inputs) const {
  const Masks& masks = Of(input);
  const bool is_used = UsesMasks(layer);
  for (const int attention : masks.attended) {
    if (masks.running.node < 0 || !is_used) break;
    if (Before(inputs, attention)[attention]) return &NoMask();
    return absl::UnimplementedError(absl::StrCat(
        "it reads the mask of \"", graph_.nodes[input].layer->name,
        "\", which MultiHeadAttention \"", graph_.nodes[attention].layer->name,
        "\" takes away; it depends on Keras which of the two runs first, which "
        "is not supported"));
  }
  return &masks.running;
}

std::vector<bool> GraphMasks::Before(absl::Span<const int> nodes,
                                     int least) const {
  std::vector<bool> before(graph_.nodes.size());
  std::vector<int> next(nodes.begin(), nodes.end());
  while (!next.empty()) {
    const int node = next.back();
    next.pop_back();
    if (node < least || before[node]) continue;
    before[node] = true;
    const std::vector<int>& inputs = graph_.nodes[node].inputs;
    next.insert(next.end(), inputs.begin(), inputs.end());
  }
  return before;
}

absl::Status GraphMasks::Attend(int attention, absl::Span<const int> inputs) {
  const std::vector<bool> before = Before(graph_.nodes[attention].inputs, 0);
  for (const int input : inputs) {
    if (Of(input).running.node < 0) continue;
    for (int reader = input + 1; reader < attention; ++reader) {
      const Node& node = graph_.nodes[reader];
      const auto end = node.inputs.begin() +
                       static_cast<ptrdiff_t>(node.layer_input_count());
      if (std::find(node.inputs.begin(), end, input) == end ||
          !Of(reader).are_used || before[reader]) {
        continue;
      }
      return absl::UnimplementedError(absl::StrCat(
          "it takes the mask of \"", graph_.nodes[input].layer->name,
          "\" away, which \"", node.layer->name,
          "\" reads; it depends on Keras which of the two runs first, which is "
          "not supported"));
    }
    masks_[input].attended.push_back(attention);
  }
  return absl::OkStatus();
}

absl::StatusOr<GraphMasks::Mask> GraphMasks::MakeMask(
    const Layer& layer, absl::Span<const int> inputs,
    absl::Span<const Mask* const> masks) {
  std::vector<Shape> shapes;
  std::vector<std::optional<Shape>> mask_shapes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    shapes.push_back(graph_.nodes[inputs[i]].output_shape);
    mask_shapes.push_back(
        masks[i]->node < 0
            ? std::nullopt
            : std::optional(graph_.nodes[masks[i]->node].output_shape));
  }
  ASSIGN_OR_RETURN(OutputMask output, layer.ComputeMask({shapes, mask_shapes}));
  const std::string name = absl::StrCat(layer.name, "/mask");
  switch (output.kind) {
    case OutputMask::Kind::kNone:
      break;
    case OutputMask::Kind::kOfFirstInput:
      return *masks[0];
    case OutputMask::Kind::kAnyOfInputs:
      return MakeAnyOf(name, masks);
    case OutputMask::Kind::kFromMasks:
      return MakeFromMasks(std::move(output), name, inputs, masks);
    case OutputMask::Kind::kFromInput: {
      Mask mask;
      mask.paths[inputs[0]] = output.operation_count;
      ASSIGN_OR_RETURN(mask.node,
                       AddMade(std::move(output.layer), name, inputs[0]));
      mask.made = {mask.node};
      return mask;
    }
  }
  return Mask();
}

// The values of the inputs count as well: Keras makes a tensor of the shape of
// each, which takes one operation; to a mask it adds an axis first.
absl::StatusOr<GraphMasks::Mask> GraphMasks::MakeFromMasks(
    OutputMask output, const std::string& name, absl::Span<const int> inputs,
    absl::Span<const Mask* const> masks) {
  Mask mask;
  std::vector<int> read;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool has_mask = masks[i]->node >= 0;
    AddPath(inputs[i], output.operation_count - (has_mask ? 0 : 1), mask.paths);
    if (!has_mask) continue;
    read.push_back(masks[i]->node);
    for (const auto& [source, count] : masks[i]->paths) {
      AddPath(source, count + output.operation_count, mask.paths);
    }
  }
  ASSIGN_OR_RETURN(mask.node,
                   AddMaskNode(std::move(output.layer), name, std::move(read)));
  mask.made = {mask.node};
  return mask;
}

// Keras computes (mask 0 or mask 1) or mask 2 …
absl::StatusOr<GraphMasks::Mask> GraphMasks::MakeAnyOf(
    const std::string& name, absl::Span<const Mask* const> masks) {
  Mask any;
  std::set<int> distinct;
  const auto count = static_cast<int>(masks.size());
  for (int i = 0; i < count; ++i) {
    distinct.insert(masks[i]->node);
    any.made.insert(masks[i]->made.begin(), masks[i]->made.end());
    for (const auto& [source, operation_count] : masks[i]->paths) {
      AddPath(source, operation_count + count - std::max(i, 1), any.paths);
    }
  }
  if (distinct.size() == 1) {
    any.node = *distinct.begin();
    return any;
  }
  ASSIGN_OR_RETURN(any.node, AddMaskNode(std::make_unique<AnyMask>(), name,
                                         {distinct.begin(), distinct.end()}));
  return any;
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
                   AddMaskNode(std::move(layer), name, {input}));
  return made_.back();
}

absl::StatusOr<int> GraphMasks::AddMaskNode(std::unique_ptr<Layer> layer,
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

absl::Status GraphMasks::CheckMakers(const ModelTree::Child& child,
                                     const std::vector<int>& makers,
                                     const ModelTree& tree) const {
  if (makers.empty()) return absl::OkStatus();
  std::set<int> found;
  for (const ModelTree::Source& input : child.inputs) {
    const Mask& mask = Recorded(tree.NodeOf(input));
    found.insert(mask.made.begin(), mask.made.end());
  }
  std::set<int> expected;
  for (const int maker : makers) {
    const Mask& mask = Recorded(tree.NodeOf({maker}));
    expected.insert(mask.made.begin(), mask.made.end());
  }
  if (!found.empty() && expected == found) return absl::OkStatus();
  const auto add_name = [this](std::string* text, int made) {
    absl::StrAppend(text, "\"", graph_.nodes[made].layer->name, "\"");
  };
  return absl::UnimplementedError(absl::StrCat(
      "a mask other than that of the input is not supported yet; the input's "
      "comes from ",
      found.empty() ? "no layer" : absl::StrJoin(found, ", ", add_name)));
}

absl::Status GraphMasks::CheckUnmasked(const ModelTree::Child& child,
                                       const ModelTree& tree) const {
  if (!child.is_unmasked || OperatorOf(child) || MayBeUnmasked(child)) {
    return absl::OkStatus();
  }
  for (const ModelTree::Source& input : child.inputs) {
    const int node = tree.NodeOf(input);
    if (Recorded(node).node < 0 && OfModelOutput(node) < 0) continue;
    return absl::UnimplementedError(absl::StrCat(
        "it does not read the mask of \"", tree.children[input.child].name,
        "\" in Keras, which is not supported yet; expected an operator (Add, "
        "Multiply or Subtract of two, or Rescaling by a number), or a layer "
        "that reads masks, such as LSTM"));
  }
  return absl::OkStatus();
}

std::vector<ModelTree::MaskPath> GraphMasks::PathsTo(
    const ModelTree::Child& child, const ModelTree& tree) const {
  std::vector<ModelTree::MaskPath> paths;
  if (child.is_unmasked || !HasMaskArgument(child)) return paths;
  if (child.layer != nullptr && HasGivenMask(*child.layer)) return paths;
  for (const ModelTree::Source& input : child.inputs) {
    const std::map<int, int>& of_input = Recorded(tree.NodeOf(input)).paths;
    for (size_t i = 0; !of_input.empty() && i < tree.children.size(); ++i) {
      for (const int node : tree.children[i].nodes) {
        const auto path = of_input.find(node);
        if (path == of_input.end()) continue;
        paths.push_back({static_cast<int>(i), path->second});
      }
    }
  }
  return paths;
}

}  // namespace paceline
