// Where Keras stores each variable of a model in a file of weights.
#ifndef PACELINE_COMMON_KERAS_WEIGHT_PATHS_H_
#define PACELINE_COMMON_KERAS_WEIGHT_PATHS_H_

#include <string>
#include <vector>

#include "common/model/graph.h"

namespace paceline {

// The nodes of a model in the order of Keras' model.layers. Of a Sequential
// model that is the order of its layers, without the Input. Of a Functional one
// it follows from the graph: by depth (the longest path to an output), the
// deepest first; at the same depth as a depth-first walk from the output meets
// them, a layer before its inputs. Source: keras/src/ops/function.py,
// map_graph.
std::vector<int> KerasLayerOrder(const Graph& graph, bool is_sequential);

// The path of the dataset of each variable, such as
// "layers/conv2d_1/vars/0". The second part is made of the class of the layer,
// not of its name, and counts the layers of the class in the order above.
std::vector<std::string> WeightPaths(const Graph& graph, bool is_sequential);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_WEIGHT_PATHS_H_
