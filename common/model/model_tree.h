// A model as its author wrote it: layers, some of which are models again.
//
// A Graph has the nodes of all these layers without the nesting, which is all
// that devices need. The tree is for whoever shows the model or stores it in a
// file.
#ifndef PACELINE_COMMON_MODEL_MODEL_TREE_H_
#define PACELINE_COMMON_MODEL_MODEL_TREE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/model/layer.h"

namespace paceline {

// Keras' name of the class of a model.
inline absl::string_view ModelClassName(bool is_sequential) {
  return is_sequential ? "Sequential" : "Functional";
}

struct ModelTree {
  // An output of a child.
  struct Source {
    int child = 0;
    // 0, but for a model in the model with several outputs.
    int output = 0;
  };

  // A path of operations from a child's output to a mask.
  struct MaskPath {
    int child = 0;
    int operation_count = 0;
  };

  // A layer of the model, a model in it, or a further call of one of these.
  struct Child {
    // Keras' name, such as "Conv2D".
    absl::string_view class_name() const {
      return layer != nullptr ? layer->class_name()
                              : ModelClassName(model->is_sequential);
    }

    // Unique in its model, such as "conv2d_1". Layer::name is unique in the
    // graph: "base/conv2d_1".
    std::string name;
    // Of a further call: the index of the child that it calls again. It has the
    // callee's `layer` or `model`, whose variables must not be counted or
    // stored twice; its own `variables` are empty. Otherwise -1.
    int callee = -1;
    // Owned by the graph; null for a model.
    const Layer* layer = nullptr;
    // Null for a layer.
    std::shared_ptr<const ModelTree> model;
    // What it reads; all children before it. Empty: it is an input of the
    // model.
    std::vector<Source> inputs;
    // By output of the child: the node of the graph that gives it. For an input
    // of a model in a model: the node that the model reads.
    std::vector<int> nodes;
    // Of a layer: its variables, indices into Graph::variables.
    std::vector<int> variables;
    // Whether Keras records no mask for the call: the layer stands for an
    // operator (keras_operator.h), or the call, which is not that of a
    // Functional, has keywords.
    bool is_unmasked = false;
    // Children whose outputs Keras reads to compute the mask that is an
    // argument of the call. Their places in Keras' order of layers depend on it
    // (weight_paths.h).
    std::vector<MaskPath> mask_paths;
  };

  std::string name;
  // The Keras file with the initial values of its variables; "": none.
  std::string path;
  // Whether its layers may be trained: false if it, or a model around it, is
  // `trainable: false` in the job.
  bool trainable = true;
  // Whether it is Keras' Sequential: no layer names its inputs, and the last is
  // the output. Otherwise it is a Functional.
  bool is_sequential = false;
  // In topological order.
  std::vector<Child> children;
  // The outputs of children that are the model's.
  std::vector<Source> outputs;

  // The node of the graph that gives an output of a child.
  int NodeOf(const Source& source) const {
    return children[source.child].nodes[source.output];
  }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_MODEL_TREE_H_
