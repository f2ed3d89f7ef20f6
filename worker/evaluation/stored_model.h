// A trained model, to predict with.
#ifndef PACELINE_WORKER_EVALUATION_STORED_MODEL_H_
#define PACELINE_WORKER_EVALUATION_STORED_MODEL_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/graph.h"

namespace paceline {

struct StoredModel {
  Graph graph;
  // Reads a whole variable, an index into Graph::variables.
  std::function<absl::Status(int variable, absl::Span<float> values)> read;
};

// Opens a `.keras` file or a legacy `.h5`, a checkpoint, or the latest one of a
// folder with a job's checkpoints. Errors are those of OpenModelFile or
// FindLatestCheckpoint, and FailedPrecondition for a checkpoint without its
// model. Blocks on the disk.
absl::StatusOr<StoredModel> OpenStoredModel(const std::string& path);

}  // namespace paceline

#endif  // PACELINE_WORKER_EVALUATION_STORED_MODEL_H_
