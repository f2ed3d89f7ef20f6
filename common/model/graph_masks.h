// The masks of a graph.
//
// As in Keras, a mask says which steps of a sequence count, and which are
// padding. Masking and Embedding with `mask_zero` make masks; most layers pass
// the mask of their input on, others drop it (Layer::ComputeMask). Recurrent
// layers, attention and GlobalAveragePooling1D skip the steps that do not
// count, and so do losses, and metrics that are means, if a mask reaches the
// output. A mask is the output of a node, 1 for steps that count and 0 for
// others, and a further input of the nodes that read it.
//
// In Keras an output has two masks:
//
// * The recorded one, from when the model was made. Calls of models, and of
//   layers that have an argument `mask` (Layer::has_mask_argument), keep it,
//   unless they have keywords (ModelTree::Child::is_unmasked); those of a
//   Functional keep it even then. Keras' files have the operations that compute
//   it among the layers. They are not in ours, since Keras adds them again, but
//   they count when it orders the layers (ModelTree::MaskPath). A model in a
//   model has none within, for its Inputs, and leaves none on its outputs.
// * The one that the output has when the model runs, which all others read:
//   merges, attention, losses, and layers that pass it on. MultiHeadAttention
//   takes it away from what it has read.
//
// A mask that a call is given by hand is an input like others
// (Layer::keyword_inputs). In Keras, the one of a Softmax is that of its
// output, too; what would read it there is refused.
//
// Operators such as x + y neither read masks nor carry them on
// (keras_operator.h).
//
// Mostly they are the same. Where they are not, each reader gets the one that
// it gets in Keras.
#ifndef PACELINE_COMMON_MODEL_GRAPH_MASKS_H_
#define PACELINE_COMMON_MODEL_GRAPH_MASKS_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/graph.h"
#include "common/model/layer.h"
#include "common/model/model_tree.h"

namespace paceline {

// Adds the nodes of masks to a graph while it is built.
class GraphMasks {
 public:
  // `graph` must outlive the object.
  explicit GraphMasks(Graph& graph) : graph_(graph) {}

  // Adds the node of a call of `child` to the graph, with the masks that its
  // layer reads, and then perhaps one that computes the mask of its output;
  // returns the node. Errors are those of Layer::ComputeMask.
  absl::StatusOr<int> AddNode(Node node, const ModelTree::Child& child);

  // Unimplemented if a mask that a Softmax was given by hand reaches `node`, an
  // output of the model.
  absl::Status CheckModelOutput(int node) const;

  // Called before and after the nodes of a model in the model are added.
  // `inputs`: the nodes that it reads; `outputs`: those of its outputs.
  void EnterModel(const std::vector<int>& inputs);
  void LeaveModel(absl::Span<const int> outputs);

  // The node of the mask that the output of a model has at the end; -1: none.
  int OfModelOutput(int node) const;

  // Unimplemented unless the recorded masks of what `child` reads are made by
  // the same layers as those of the children `makers` of `tree`. Empty: any.
  absl::Status CheckMakers(const ModelTree::Child& child,
                           const std::vector<int>& makers,
                           const ModelTree& tree) const;

  // Unimplemented if `child` is to be unmasked, but something that it reads has
  // a mask, and Keras records it or has no argument for it: the child is
  // neither an operator nor a Sequential nor a layer with an argument `mask`.
  absl::Status CheckUnmasked(const ModelTree::Child& child,
                             const ModelTree& tree) const;

  // ModelTree::Child::mask_paths of a child of `tree`.
  std::vector<ModelTree::MaskPath> PathsTo(const ModelTree::Child& child,
                                           const ModelTree& tree) const;

 private:
  struct Mask {
    // -1: none.
    int node = -1;
    // The nodes of masks that layers made and that it was computed from.
    std::set<int> made;
    // By node whose output Keras reads to compute it: the number of operations
    // on the longest path. Merges of a mask with itself must not add paths.
    std::map<int, int> paths;
  };

  struct Masks {
    Mask recorded;
    Mask running;
    // The nodes of attention that have read the output.
    std::vector<int> attended;
    // The node of a Softmax whose mask by hand is that of the output in Keras.
    int softmax = -1;
    // Whether the running masks of what it reads matter to the node, or to the
    // mask of its output.
    bool are_used = false;
  };

  static const Mask& NoMask();
  const Masks& Of(int node) const;
  const Mask& Recorded(int node) const;
  // The mask that an input of a layer has when the model runs. `inputs`: those
  // of the layer.
  absl::StatusOr<const Mask*> Running(int input, const Layer& layer,
                                      absl::Span<const int> inputs) const;
  // By node, from `least` on: whether it is among `nodes` or what these are
  // computed from.
  std::vector<bool> Before(absl::Span<const int> nodes, int least) const;
  // Masks::softmax of a call of a layer. Unimplemented if it reads the mask.
  absl::StatusOr<int> SoftmaxBefore(const Layer& layer,
                                    absl::Span<const int> inputs) const;
  // Notes that an attention layer has read masks. Unimplemented if another
  // layer has read them too, and Keras may run either first.
  absl::Status Attend(int attention, absl::Span<const int> inputs);

  // The mask of the output of `layer`, from those of its inputs.
  absl::StatusOr<Mask> MakeMask(const Layer& layer,
                                absl::Span<const int> inputs,
                                absl::Span<const Mask* const> masks);
  // The same for a layer that computes it from the masks: `output`.
  absl::StatusOr<Mask> MakeFromMasks(OutputMask output, const std::string& name,
                                     absl::Span<const int> inputs,
                                     absl::Span<const Mask* const> masks);
  absl::StatusOr<Mask> MakeAnyOf(const std::string& name,
                                 absl::Span<const Mask* const> masks);
  // The node of the mask that `layer`, a DiffersMask, computes of a node.
  // Layers that make the same mask share it.
  absl::StatusOr<int> AddMade(std::unique_ptr<Layer> layer,
                              const std::string& name, int input);
  absl::StatusOr<int> AddMaskNode(std::unique_ptr<Layer> layer,
                                  const std::string& name,
                                  std::vector<int> inputs);

  Graph& graph_;
  // By node; nodes of masks have none.
  std::vector<Masks> masks_;
  // Nodes that compute masks from values.
  std::vector<int> made_;
  // By model that is being added, the innermost last: the nodes that it reads.
  std::vector<std::set<int>> model_inputs_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_GRAPH_MASKS_H_
