// The masks of a graph.
//
// As in Keras, a mask says which steps of a sequence count, and which are
// padding. Masking and Embedding with `mask_zero` make masks; most layers pass
// the mask of their input on, others drop it (Layer::ComputeMask). Recurrent
// layers, attention and GlobalAveragePooling1D skip the steps that do not
// count, and so do losses, and metrics that are means, if a mask reaches the
// output.
//
// A mask is the output of a node, 1 for steps that count and 0 for others, and
// a further input of the nodes that read it. So devices need nothing for masks.
//
// Keras' files of Functional models have the operations that compute masks
// among the layers. They are not in ours, since Keras adds them when it reads a
// model, but they count when it orders the layers; hence MaskPath.
#ifndef PACELINE_COMMON_MODEL_GRAPH_MASKS_H_
#define PACELINE_COMMON_MODEL_GRAPH_MASKS_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/model/graph.h"
#include "common/model/layer.h"
#include "common/model/model_tree.h"

namespace paceline {

// Adds the nodes of masks to a graph while it is built.
class GraphMasks {
 public:
  // `graph` must outlive the object.
  explicit GraphMasks(Graph& graph) : graph_(graph) {}

  // Adds the masks that the layer of `node` reads to its inputs, before the
  // node is added to the graph.
  void AddInputs(Node& node) const;

  // Adds the mask of the output of the graph's last node. Errors are those of
  // Layer::ComputeMask.
  absl::Status AddOutput();

  // Makes the mask of a node, the output of a model in the model, one of which
  // Keras' files do not say how it is computed.
  void HideOrigin(int node);

  // The node that gives the mask of `node`; -1: it has none.
  int Of(int node) const;

  // Unimplemented unless the masks of what `child` reads are made by the
  // children `makers` of `tree`. Empty: any.
  absl::Status CheckMakers(const ModelTree::Child& child,
                           const std::vector<int>& makers,
                           const ModelTree& tree) const;

  // ModelTree::Child::mask_paths of a child of `tree`.
  std::vector<ModelTree::MaskPath> PathsTo(const ModelTree::Child& child,
                                           const ModelTree& tree) const;

 private:
  // A path of Keras' operations from a node's output to a mask.
  struct Path {
    int node = 0;
    int operation_count = 0;
  };

  struct Mask {
    // -1: none.
    int node = -1;
    // The nodes of masks that layers made and that it was computed from.
    std::set<int> made;
    std::vector<Path> paths;
  };

  const Mask& MaskOf(int node) const;
  // The mask that `output` says for the node.
  absl::StatusOr<Mask> MakeMask(int node, OutputMask output);
  // Adds a node that computes a mask; returns it.
  absl::StatusOr<int> AddNode(std::unique_ptr<Layer> layer,
                              const std::string& name, std::vector<int> inputs);
  // The node of the mask that `layer`, a DiffersMask, computes of a node.
  // Layers that make the same mask share it.
  absl::StatusOr<int> AddMade(std::unique_ptr<Layer> layer,
                              const std::string& name, int input);
  // A mask without its node: that of merged inputs.
  Mask AnyOf(int node) const;

  Graph& graph_;
  // By node; nodes of masks have none.
  std::vector<Mask> masks_;
  // Nodes that compute masks from values.
  std::vector<int> made_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_GRAPH_MASKS_H_
