// A model as the writers of files get it.
#ifndef PACELINE_COMMON_KERAS_TRAINED_MODEL_H_
#define PACELINE_COMMON_KERAS_TRAINED_MODEL_H_

#include <cstdint>
#include <functional>

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

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_TRAINED_MODEL_H_
