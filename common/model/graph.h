// A model as a static graph of layers, with inferred shapes.
#ifndef PACELINE_COMMON_MODEL_GRAPH_H_
#define PACELINE_COMMON_MODEL_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/model/layer.h"
#include "common/model/model_tree.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"

namespace paceline {

// A call of a layer.
struct Node {
  const Layer* layer = nullptr;
  // Indices of the nodes whose outputs this node reads; all smaller than its
  // own; may repeat. Empty: it is an input of the model. The layer's inputs
  // come first, then the masks that it reads.
  std::vector<int> inputs;
  // The layer's variables: indices into Graph::variables.
  std::vector<int> variables;
  // Without the batch axis.
  Shape output_shape;
  // How many nodes before it call the same layer.
  int call = 0;
  // By mask among the inputs: which of the layer's inputs has it; ascending.
  std::vector<int> masked_inputs = {};

  // Without the masks.
  size_t layer_input_count() const {
    return inputs.size() - masked_inputs.size();
  }
  // The call of the layer. The tensors are those of `inputs` and `variables`.
  LayerCall CallOn(absl::Span<const op::Tensor> input_tensors,
                   absl::Span<const op::Tensor> variable_tensors,
                   bool is_training, uint64_t seed) const {
    return {.inputs = input_tensors.first(layer_input_count()),
            .variables = variable_tensors,
            .is_training = is_training,
            .seed = seed,
            .call = call,
            .masks = input_tensors.subspan(layer_input_count()),
            .masked_inputs = masked_inputs};
  }
};

// Immutable once built (build_graph.h); thread-safe.
struct Graph {
  std::vector<std::unique_ptr<const Layer>> layers;
  // In topological order. Models in the model are replaced by their layers, and
  // masks (graph_masks.h) and penalties (Layer::is_penalty) have nodes, too.
  std::vector<Node> nodes;
  // In the order of layers; within a layer in Keras' order.
  std::vector<VariableSpec> variables;
  // Node indices. A batch has features for each input and labels for each
  // output, in these orders. An output may also be read by other nodes, and a
  // node may be listed twice.
  std::vector<int> inputs;
  std::vector<int> outputs;
  // By output: the node that gives its mask (graph_masks.h); -1: it has none.
  std::vector<int> output_masks;
  // The same layers, nested as in the model; without those of masks and
  // penalties.
  ModelTree tree;

  // Without the batch axis. `input` and `output`: indices into `inputs` and
  // `outputs`.
  const Shape& input_shape(size_t input) const {
    return nodes[inputs[input]].output_shape;
  }
  const Shape& output_shape(size_t output) const {
    return nodes[outputs[output]].output_shape;
  }
  // The name of the layer, or of the model in the model, that gives the output;
  // as in Keras, also where its call is a further one.
  const std::string& output_name(size_t output) const {
    const ModelTree::Child& child = tree.children[tree.outputs[output].child];
    return child.callee < 0 ? child.name : tree.children[child.callee].name;
  }
};

// How often nodes read the output of `node`, plus how often it is an output of
// the model.
int64_t ReaderCount(const Graph& graph, int node);

// If positive, the features of Graph::inputs[input] are ids from 0 to
// FeatureIdCount(graph, input) - 1.
int64_t FeatureIdCount(const Graph& graph, size_t input);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_GRAPH_H_
