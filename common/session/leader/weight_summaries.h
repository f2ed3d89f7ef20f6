// The variables of a checkpoint for TensorBoard.
#ifndef PACELINE_COMMON_SESSION_LEADER_WEIGHT_SUMMARIES_H_
#define PACELINE_COMMON_SESSION_LEADER_WEIGHT_SUMMARIES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/callback/callback.h"
#include "common/model/graph.h"
#include "common/session/leader/event_files.h"

namespace paceline {

// By variable of the graph: what Keras calls it, "sequential/dense/kernel". A
// Sequential has its own name in front of its layers'. Layers of a model in the
// model have that one's name instead, also if it is a Functional, where Keras
// may use a name twice.
std::vector<std::string> WeightPathsOf(const Graph& graph);

// Appends a histogram of each variable of the checkpoint in `folder`, and its
// images if it is asked for them, to the event file of `run`, a folder. The
// checkpoint must be one of `graph`. Variables are read one after the other, in
// pieces for their histograms, whole for their images. Warns of images that PNG
// cannot hold. Errors are those of CheckpointReader and of EventFiles. Blocks
// on the disk.
absl::Status WriteWeightSummaries(const std::string& folder, const Graph& graph,
                                  const WriteWeights& weights,
                                  const std::string& run, EventFiles& files);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_WEIGHT_SUMMARIES_H_
