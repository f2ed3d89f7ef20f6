// The variables of a checkpoint for TensorBoard.
#ifndef PACELINE_COMMON_SESSION_LEADER_WEIGHT_SUMMARIES_H_
#define PACELINE_COMMON_SESSION_LEADER_WEIGHT_SUMMARIES_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
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
// pieces; of one that is drawn, at most kMaxWeightImageElements are in memory.
// With step 0, which TensorBoard always has, warns of each variable that
// CheckWeightImages or PNG refuses; it has no image at any step.
//
// FailedPrecondition, before anything is written, if `folder` lacks a shard's
// file. Cancelled if `stops`, which is asked before each piece, says so; the
// first piece of a shard's file also takes reading that for its CRC-32. Other
// errors are those of CheckpointReader and of EventFiles. Blocks on the disk.
absl::Status WriteWeightSummaries(const std::string& folder, const Graph& graph,
                                  const WriteWeights& weights,
                                  const std::string& run, EventFiles& files,
                                  absl::FunctionRef<bool()> stops);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_WEIGHT_SUMMARIES_H_
