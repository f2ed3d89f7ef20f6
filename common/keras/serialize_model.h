// Writes a model as keras.saving.serialize_keras_object does.
#ifndef PACELINE_COMMON_KERAS_SERIALIZE_MODEL_H_
#define PACELINE_COMMON_KERAS_SERIALIZE_MODEL_H_

#include "absl/status/statusor.h"
#include "common/config/value.h"
#include "common/model/graph.h"
#include "common/optimizer/optimizer.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// {module, class_name, config, ..., compile_config}: a Sequential if no layer
// of the job's model names its inputs, else a Functional. `graph` and
// `optimizer` must be those of the job. Errors are those of its losses and
// metrics.
absl::StatusOr<Value> SerializeModel(const v1::Job& job, const Graph& graph,
                                     const Optimizer& optimizer);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_SERIALIZE_MODEL_H_
