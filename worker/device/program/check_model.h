// Whether a device has the operations of a model: before it is chosen.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_CHECK_MODEL_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_CHECK_MODEL_H_

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/model/graph.h"
#include "common/model/loss.h"
#include "common/model/loss_input.h"
#include "common/model/metric.h"
#include "worker/device/device.h"
#include "worker/device/program/example_function.h"
#include "worker/device/program/lower_node.h"
#include "worker/device/program/operations/operation_table.h"

namespace paceline {

// `shape` of an example, for the smallest batch.
inline Shape OneExample(Shape shape) {
  shape.insert(shape.begin(), 1);
  return shape;
}

// Of labels, as a loss or a metric has them.
inline Shape LabelsOfOneExample(bool are_sparse, const Graph& graph) {
  return are_sparse ? Shape{1} : OneExample(graph.output_shape());
}

// A loss, or a metric that is its mean, as training has it.
inline ExampleFunction LossFunctionOf(const Graph& graph, const Loss& loss,
                                      bool has_gradient) {
  const LossInput from = ResolveLossInput(graph, loss, /*is_training=*/true);
  return MakeLossFunction(
      loss, from.from_logits, OneExample(graph.nodes[from.node].output_shape),
      LabelsOfOneExample(loss.has_sparse_labels(), graph), has_gradient);
}

inline ExampleFunction MetricFunctionOf(const Graph& graph,
                                        const Metric& metric) {
  if (metric.mean_of() != nullptr) {
    return LossFunctionOf(graph, *metric.mean_of(), /*has_gradient=*/false);
  }
  return MakeMetricFunction(
      metric, OneExample(graph.output_shape()),
      LabelsOfOneExample(metric.has_sparse_labels(), graph));
}

// As Device::Supports, of a device with these operations.
template <typename Builder>
absl::Status CheckModel(absl::string_view device,
                        absl::Span<const OperationEntry<Builder>> operations,
                        const ProgramSpec& spec) {
  const Graph& graph = *spec.graph;
  for (size_t i = 1; i < graph.nodes.size(); ++i) {
    RETURN_IF_ERROR(
        LowerNode(device, operations, graph, graph.nodes[i], {}).status());
  }
  RETURN_IF_ERROR(CheckOperations(
      device, operations, OwnerName(*spec.loss),
      *LossFunctionOf(graph, *spec.loss, /*has_gradient=*/true)));
  for (const std::unique_ptr<const Metric>& metric : spec.metrics) {
    RETURN_IF_ERROR(CheckOperations(device, operations, OwnerName(*metric),
                                    *MetricFunctionOf(graph, *metric)));
  }
  return absl::OkStatus();
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_CHECK_MODEL_H_
