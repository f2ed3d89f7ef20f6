// A model as a static graph of layers with inferred shapes.
#ifndef PACELINE_COMMON_MODEL_GRAPH_H_
#define PACELINE_COMMON_MODEL_GRAPH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/model/layer.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// One call of a layer.
struct Node {
  const Layer* layer = nullptr;
  // Nodes whose outputs this one reads, by index; all smaller than its own. One
  // may be there twice.
  std::vector<int> inputs;
  // Variables of the layer, by index in Graph::variables.
  std::vector<int> variables;
  // Without the batch.
  Shape output_shape;
};

// Immutable once built; thread-safe.
struct Graph {
  std::vector<std::unique_ptr<const Layer>> layers;
  // In topological order. The first is the input.
  std::vector<Node> nodes;
  // In the order of the layers, then Keras' order within a layer.
  std::vector<VariableSpec> variables;
  // The node whose output the loss reads.
  int output = 0;

  const Shape& input_shape() const { return nodes.front().output_shape; }
  const Shape& output_shape() const { return nodes[output].output_shape; }
};

// How often other nodes read the output of `node`.
int64_t ReaderCount(const Graph& graph, int node);

// If above 0, features are ids from 0 to FeatureIdCount(graph) - 1.
int64_t FeatureIdCount(const Graph& graph);

// Builds the graph of a job's model. Layers without a name get Keras' names
// ("dense", "dense_1"). Each output but the last is read. Errors name the layer
// and what does not fit.
absl::StatusOr<Graph> BuildGraph(const v1::Model& model);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_GRAPH_H_
