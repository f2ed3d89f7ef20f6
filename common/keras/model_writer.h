// Writes trained models as Keras files, which Keras loads with nothing of ours:
// compiled, with the optimizer's state.
#ifndef PACELINE_COMMON_KERAS_MODEL_WRITER_H_
#define PACELINE_COMMON_KERAS_MODEL_WRITER_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/graph.h"
#include "common/optimizer/optimizer.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// A model and its values. All references must outlive the call.
struct TrainedModel {
  // Only its model, losses, optimizer and metrics are used.
  const v1::Job& job;
  const Graph& graph;
  const Optimizer& optimizer;
  // Updates that the optimizer has made.
  int64_t iterations = 0;
  // Reads elements of a variable (slot "") or of one of its slots, from element
  // `begin` on.
  std::function<absl::Status(absl::string_view variable, absl::string_view slot,
                             int64_t begin, absl::Span<float> out)>
      read;
};

// Writes a `.keras` archive to `path`, atomically. Values are read as they are
// written, at most 1 MiB at a time, so memory does not grow with the model.
// Unimplemented if the model has parts that Keras' files cannot have; else
// errors are those of `read`, or name the path. Blocks on the disk.
absl::Status WriteKerasModel(const std::string& path,
                             const TrainedModel& model);

// The same as `.weights.h5`: only the variables and the optimizer's state.
absl::Status WriteKerasWeights(const std::string& path,
                               const TrainedModel& model);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_MODEL_WRITER_H_
