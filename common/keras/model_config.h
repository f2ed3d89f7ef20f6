// Reads the model of a Keras file: what keras.saving.serialize_keras_object and
// to_json() of Keras 3 and 2 give for a Sequential or a Functional model.
//
// A Functional model's layers name their inputs; the layers of a Sequential one
// do not. So the kind of a model can be told from its layers
// (ModelTree::is_sequential).
#ifndef PACELINE_COMMON_KERAS_MODEL_CONFIG_H_
#define PACELINE_COMMON_KERAS_MODEL_CONFIG_H_

#include "absl/status/statusor.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "common/keras/compile_config.h"

namespace paceline {

struct ModelConfig {
  // In the form of a job file: {name, layers, outputs}. The layers are in
  // topological order; `outputs` is missing if the last is the only output.
  Value model;
  // The job's `precision`; null: the model's layers compute in float32.
  Value precision = Value();
  CompileConfig compile;
};

// Errors have their path in `config`, below `path`. InvalidArgument for what
// Keras would not write, such as a circle of layers; Unimplemented for parts of
// Keras that are not supported yet, and for classes of the user's own. Configs
// of layers are checked by BuildGraph.
absl::StatusOr<ModelConfig> ReadModelConfig(Value config, const Path& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_MODEL_CONFIG_H_
