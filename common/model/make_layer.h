// Creates layers from configs.
#ifndef PACELINE_COMMON_MODEL_MAKE_LAYER_H_
#define PACELINE_COMMON_MODEL_MAKE_LAYER_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/model/layer.h"

namespace paceline {

class Path;
class Value;
struct ClassReference;
struct KerasObject;

// The layer that a Keras object describes, checked by the field table of its
// class. Errors have their path below `path`.
absl::StatusOr<std::unique_ptr<Layer>> MakeLayer(const KerasObject& object,
                                                 const Path& path);

// In Keras' serialised form.
Value Serialize(const Layer& layer);

// The references of all layers, by class name.
std::vector<ClassReference> LayerReferences();

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_MAKE_LAYER_H_
