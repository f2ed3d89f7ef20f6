// Builds the graph of a model.
#ifndef PACELINE_COMMON_MODEL_BUILD_GRAPH_H_
#define PACELINE_COMMON_MODEL_BUILD_GRAPH_H_

#include "absl/status/statusor.h"
#include "common/model/graph.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Builds the graph of a job's model. Its first layer is an Input, and there may
// be more; its outputs are those of the layers that `outputs` names, or of the
// last layer. Layers without a name get Keras' names ("dense", "dense_1").
// Every layer but the outputs must be read. Models among the layers
// (nested_model.h) follow the same rules; who reads one of several outputs
// names it (output_name.h). Errors name the layer and what does not fit.
absl::StatusOr<Graph> BuildGraph(const v1::Model& model);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_BUILD_GRAPH_H_
