// Builds the graph of a model.
#ifndef PACELINE_COMMON_MODEL_BUILD_GRAPH_H_
#define PACELINE_COMMON_MODEL_BUILD_GRAPH_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/graph.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Builds the graph of a job's model, which has one input (its first layer) and
// one output (its last). Layers without a name get Keras' names ("dense",
// "dense_1"). Every layer but the last must be read. Models among the layers
// (nested_model.h) follow the same rules. Errors name the layer and what does
// not fit.
absl::StatusOr<Graph> BuildGraph(const v1::Model& model);

// The same for a model with any number of Input layers. Its outputs are those
// of the layers named in `outputs`.
absl::StatusOr<Graph> BuildGraph(const v1::Model& model,
                                 absl::Span<const std::string> outputs);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_BUILD_GRAPH_H_
