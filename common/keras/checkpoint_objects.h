// The variables of a Keras model and of its optimizer among the objects of a
// checkpoint of TensorFlow.
//
// A checkpoint has a graph of objects: who has which under which attribute, and
// the key of each variable's tensor. A key is the shortest way to its variable,
// which may lead by the optimizer, "optimizer/_trainable_variables/0"; so keys
// say nothing, and the model is walked. It is the root, or the one child of the
// root that is a model:
//
//   Keras 3     model ─> [_functional ─>] _operations ─> 0, 1, …
//   Keras 2     model ─> layer_with_weights-0, layer_with_weights-1, …
//
// each in the order of model.layers. A layer has its variables, or parts that
// have them: `cell`. Their optimizer is the child `optimizer` of the root or of
// the model. It has its variables in a list, in the order of slot_paths.h; one
// of Keras 2 before 2.11 says which variable each slot belongs to.
#ifndef PACELINE_COMMON_KERAS_CHECKPOINT_OBJECTS_H_
#define PACELINE_COMMON_KERAS_CHECKPOINT_OBJECTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/keras/weight_paths.h"

namespace paceline {

// The group of slots that are found by the path of their variable:
// "optimizer/slots/layer_with_weights-1/kernel/m".
inline constexpr char kNamedSlotGroup[] = "optimizer/slots/";

struct CheckpointVariable {
  // Of an optimizer, as in slot_paths.h, or below kNamedSlotGroup. Of a model
  // as Keras 2 names it, whoever wrote it: "layer_with_weights-1/cell/kernel",
  // in a model in the model
  // "layer_with_weights-1/layer_with_weights-0/kernel". Counts the layers, and
  // models, that have variables.
  std::string path;
  // Of the tensor.
  std::string key;
  // The name of its layer; "" if the checkpoint does not have it, as that of a
  // model in the model, and of layers that wrap others in a model that Keras
  // loaded from a file.
  std::string layer;
  // Of the model.
  KerasRelease release = KerasRelease::k3;
};

// `graph`: a serialized TrackableObjectGraph. The variables of the model in the
// order of their layers, then those of the optimizer; paths are unique.
// InvalidArgument if there is no Sequential or Functional model, or several;
// DataLoss if it is damaged.
absl::StatusOr<std::vector<CheckpointVariable>> FindModelVariables(
    absl::string_view graph);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_CHECKPOINT_OBJECTS_H_
