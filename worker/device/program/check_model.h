// Checks whether a device has the operations of a model, before the device is
// chosen.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_CHECK_MODEL_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_CHECK_MODEL_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/model/graph.h"
#include "common/model/loss.h"
#include "common/model/metric.h"
#include "worker/device/device.h"
#include "worker/device/program/example_function.h"
#include "worker/device/program/lower_node.h"
#include "worker/device/program/operations/operation_table.h"

namespace paceline {

// The function of the loss of an output, in training with its gradient, for a
// batch of one example.
ExampleFunction LossFunctionOf(const Graph& graph, const OutputSpec& spec,
                               bool is_training);

// The same of a metric of that output.
ExampleFunction MetricFunctionOf(const Graph& graph, const OutputSpec& spec,
                                 const Metric& metric, bool is_training);

// Unimplemented unless the device has the operations of the losses and metrics,
// in training or evaluation.
template <typename Builder>
absl::Status CheckOutputs(absl::string_view device,
                          absl::Span<const OperationEntry<Builder>> operations,
                          const ProgramSpec& spec, bool is_training) {
  const Graph& graph = *spec.graph;
  for (const OutputSpec& output : spec.outputs) {
    if (output.loss != nullptr) {
      RETURN_IF_ERROR(
          CheckOperations(device, operations, OwnerName(*output.loss),
                          *LossFunctionOf(graph, output, is_training)));
    }
    for (const auto& metric : output.metrics) {
      RETURN_IF_ERROR(CheckOperations(
          device, operations, OwnerName(*metric),
          *MetricFunctionOf(graph, output, *metric, is_training)));
    }
  }
  return absl::OkStatus();
}

// Device::Supports for a device with these operations.
template <typename Builder>
absl::Status CheckModel(absl::string_view device,
                        absl::Span<const OperationEntry<Builder>> operations,
                        const ProgramSpec& spec) {
  const Graph& graph = *spec.graph;
  for (const Node& node : graph.nodes) {
    if (node.inputs.empty()) continue;
    RETURN_IF_ERROR(LowerNode(device, operations, graph, node, {}).status());
  }
  RETURN_IF_ERROR(CheckOutputs(device, operations, spec, /*is_training=*/true));
  return CheckOutputs(device, operations, spec, /*is_training=*/false);
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_CHECK_MODEL_H_
