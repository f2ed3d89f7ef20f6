// How a device computes layers: by the operations that it has.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_LAYER_TABLE_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_LAYER_TABLE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/model/graph.h"
#include "common/operations/operation.h"
#include "worker/device/program/fused_clamp.h"
#include "worker/device/program/layers/fused.h"
#include "worker/device/program/lowered_node.h"
#include "worker/device/program/node_computation.h"
#include "worker/device/program/node_function.h"
#include "worker/device/program/operations/operation_table.h"

namespace paceline {

template <typename Builder>
struct DeviceTables {
  // As errors call it.
  const char* device;
  absl::Span<const OperationEntry<Builder>> operations;
};

// The computation of a node of `graph`, which outlives it: nothing, if the node
// before it does that too, or the layer's operations. Unimplemented names the
// layer, and the operation that the device lacks.
template <typename Builder>
absl::StatusOr<std::unique_ptr<NodeComputation<Builder>>> MakeFromTables(
    const DeviceTables<Builder>& tables, const Graph& graph, const Node& node,
    const NodeFunctionSpec& spec) {
  if (IsFusedIntoInput(graph, node)) {
    return std::make_unique<FusedComputation<Builder>>();
  }
  NodeFunction function = MakeNodeFunction(
      graph, node, spec,
      [&tables](const op::Operation& operation,
                absl::Span<const op::TensorType> inputs) {
        return HasOperation(tables.operations, operation, inputs);
      });
  RETURN_IF_ERROR(CheckOperations(tables.device, tables.operations,
                                  absl::StrCat("layer ", node.layer->name, " (",
                                               node.layer->class_name(), ")"),
                                  *function.function));
  return std::make_unique<LoweredComputation<Builder>>(node,
                                                       std::move(function));
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_LAYER_TABLE_H_
