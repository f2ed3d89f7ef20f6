// Where Keras stores each variable of a model in a file of weights.
#ifndef PACELINE_COMMON_KERAS_WEIGHT_PATHS_H_
#define PACELINE_COMMON_KERAS_WEIGHT_PATHS_H_

#include <string>
#include <vector>

#include "common/model/graph.h"
#include "common/model/model_tree.h"

namespace paceline {

// Keras 3 counts the operations that compute masks (ModelTree::MaskPath) when
// it orders layers; Keras 2 does not.
enum class KerasRelease { k2, k3 };

// The layers and models of a model, indices of its children without further
// calls, in the order of Keras' model.layers. Of a Sequential
// model that is the order of its layers, without the Input. Of a Functional one
// it follows from the graph: by depth (the longest path from any of its calls
// to an output), the deepest first; at the same depth as a depth-first walk
// from the output meets them, a layer before its inputs. Source:
// keras/src/ops/function.py, map_graph.
std::vector<int> KerasLayerOrder(const ModelTree& model,
                                 KerasRelease release = KerasRelease::k3);

struct WeightPath {
  // An index into Graph::variables.
  int variable = 0;
  // Of the dataset, such as "layers/conv2d_1/vars/0", or, in a model in the
  // model, "layers/functional/layers/conv2d/vars/0". The names are made of
  // the classes of layers, not of their names, and count the layers of a class
  // in the order above.
  std::string path;
};

// Those of all variables, in the order of layers above, a model in the model in
// its place.
std::vector<WeightPath> WeightPaths(const ModelTree& model,
                                    KerasRelease release = KerasRelease::k3);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_WEIGHT_PATHS_H_
