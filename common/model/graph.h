// A model as a static graph of layers with inferred shapes.
#ifndef PACELINE_COMMON_MODEL_GRAPH_H_
#define PACELINE_COMMON_MODEL_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// One call of a layer.
struct Node {
  const Layer* layer = nullptr;
  // Nodes whose outputs this one reads, by index; all smaller than its own. One
  // may be there twice. None: it is an input of the model.
  std::vector<int> inputs;
  // Variables of the layer, by index in Graph::variables.
  std::vector<int> variables;
  // Without the batch.
  Shape output_shape;
};

// Immutable once built; thread-safe.
struct Graph {
  std::vector<std::unique_ptr<const Layer>> layers;
  // In topological order.
  std::vector<Node> nodes;
  // In the order of the layers, then Keras' order within a layer.
  std::vector<VariableSpec> variables;
  // Nodes, by index. A batch has features for each of the inputs, and labels
  // for each of the outputs, in these orders. Other nodes may read an output,
  // and a node may be there twice.
  std::vector<int> inputs;
  std::vector<int> outputs;

  // Without the batch; by index in `inputs` and `outputs`.
  const Shape& input_shape(size_t input) const {
    return nodes[inputs[input]].output_shape;
  }
  const Shape& output_shape(size_t output) const {
    return nodes[outputs[output]].output_shape;
  }
};

// How often nodes read the output of `node`, and how often it is one of the
// model's.
int64_t ReaderCount(const Graph& graph, int node);

// If above 0, the features of Graph::inputs[input] are ids from 0 to
// FeatureIdCount(graph, input) - 1.
int64_t FeatureIdCount(const Graph& graph, size_t input);

// Builds the graph of a job's model, which has one input, its first layer, and
// one output, that of its last. Layers without a name get Keras' names
// ("dense", "dense_1"). Each output but the last is read. Errors name the layer
// and what does not fit.
absl::StatusOr<Graph> BuildGraph(const v1::Model& model);

// The same of a model with any number of Input layers, whose outputs are those
// of the layers with the names `outputs`.
absl::StatusOr<Graph> BuildGraph(const v1::Model& model,
                                 absl::Span<const std::string> outputs);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_GRAPH_H_
