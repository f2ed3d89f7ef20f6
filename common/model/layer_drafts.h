// The layers of one model as its configuration gives them, named and connected
// with each other, before shapes are inferred.
#ifndef PACELINE_COMMON_MODEL_LAYER_DRAFTS_H_
#define PACELINE_COMMON_MODEL_LAYER_DRAFTS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/model/layer.h"
#include "common/model/model_tree.h"
#include "common/model/nested_model.h"

namespace paceline {

// A layer, a model among the layers, or a further call of one of these.
struct LayerDraft {
  // Keras' name, such as "Conv2D"; of a call (callee >= 0),
  // RepeatedCall::kClassName.
  absl::string_view class_name() const;
  bool is_input() const;

  // Unique in its model.
  std::string name;
  // Null for a model and for a call.
  std::unique_ptr<Layer> layer;
  // Only of a model.
  NestedModel model;
  // Of a call: the index of the layer or model that it calls; otherwise -1.
  int callee = -1;
  // What it reads; all layers before it. Outputs are not checked.
  std::vector<ModelTree::Source> inputs;
  // Indices of the layers that must have made the mask of what it reads; all
  // smaller than its own. Empty: any.
  std::vector<int> masked_by;
  // KerasObject::unmasked.
  bool is_unmasked = false;
};

struct ModelDraft {
  std::vector<LayerDraft> layers;
  std::vector<ModelTree::Source> outputs;
  // See ModelTree.
  bool is_sequential = false;
};

// Reads the layers of the model at `path`, the first of which must be an Input,
// and gives those without a name Keras' names: "dense", "dense_1". `outputs`:
// names of layers' outputs (output_name.h); empty: the last layer. Errors name
// the layer.
absl::StatusOr<ModelDraft> DraftModel(absl::Span<const KerasObject> layers,
                                      absl::Span<const std::string> outputs,
                                      const Path& path);

// The path of a layer of the model at `path`.
Path LayerPath(const Path& model, size_t index);

// An error about a layer as a whole: `Conv2D "conv1": …`.
absl::Status LayerError(absl::string_view class_name, absl::string_view name,
                        const Path& path, const absl::Status& error);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYER_DRAFTS_H_
