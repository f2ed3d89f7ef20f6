// What a job trains and measures of each output of its model.
#ifndef PACELINE_COMMON_MODEL_OBJECTIVE_H_
#define PACELINE_COMMON_MODEL_OBJECTIVE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/graph.h"
#include "common/model/loss.h"
#include "common/model/metric.h"
#include "common/model/output_spec.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

struct Objective {
  // Null: the output is predicted and may have metrics, but trains nothing.
  std::unique_ptr<const Loss> loss;
  // Of the loss in the sum over all outputs: Keras' loss_weights.
  double weight = 1;
  // Of examples in training: Keras' class_weight. Empty: 1 each.
  std::vector<double> class_weights;
  // Whether the data have weights of examples: Keras' sample_weight.
  bool has_sample_weights = false;
  // If the model has several outputs, their names in logs begin with that of
  // the output. If several have a loss, the first is that without the weight:
  // "digit_loss", "digit_accuracy".
  std::vector<std::unique_ptr<const Metric>> metrics;

  // Whether the output has labels. Otherwise nothing is asked of it.
  bool has_labels() const { return loss != nullptr || !metrics.empty(); }
};

// The objective of each output, in the order of Graph::outputs; at least one
// has a loss. Errors name the field of the job and the output.
absl::StatusOr<std::vector<Objective>> MakeObjectives(const v1::Job& job,
                                                      const Graph& graph,
                                                      bool has_sample_weights);

// Those of the outputs that have labels. Points into `objectives`.
std::vector<OutputSpec> SpecsOf(absl::Span<const Objective> objectives);

// The loss and the metrics of an output as the job gives them, for a job that
// MakeObjectives accepts; they point into the job. Null: the output has no
// loss.
const v1::KerasObject* LossOf(const v1::Job& job, const Graph& graph,
                              size_t output);
// The same loss, made; null: it has none. Errors have the field of the job.
absl::StatusOr<std::unique_ptr<const Loss>> MakeLossOf(const v1::Job& job,
                                                       const Graph& graph,
                                                       size_t output);
MetricObjects MetricsOf(const v1::Job& job, const Graph& graph, size_t output);
MetricObjects WeightedMetricsOf(const v1::Job& job, const Graph& graph,
                                size_t output);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_OBJECTIVE_H_
