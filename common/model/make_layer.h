// Layers from their configs.
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

// The layer a Keras object describes, checked by the field table of its class.
// Errors carry their path below `path`.
absl::StatusOr<std::unique_ptr<Layer>> MakeLayer(const KerasObject& object,
                                                 const Path& path);

// As Keras serializes it.
Value Serialize(const Layer& layer);

// Every layer, by class name.
std::vector<ClassReference> LayerReferences();

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_MAKE_LAYER_H_
