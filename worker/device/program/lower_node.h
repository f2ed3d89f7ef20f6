// Lowers a layer to the operations that a device has.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_LOWER_NODE_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_LOWER_NODE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/model/graph.h"
#include "common/operations/operation.h"
#include "worker/device/program/node_function.h"
#include "worker/device/program/operations/operation_table.h"

namespace paceline {

// The function of a node of `graph` for a device with these operations.
// Unimplemented names the layer, and the operation that the device lacks.
template <typename Builder>
absl::StatusOr<NodeFunction> LowerNode(
    absl::string_view device,
    absl::Span<const OperationEntry<Builder>> operations, const Graph& graph,
    const Node& node, const NodeFunctionSpec& spec) {
  NodeFunction function =
      MakeNodeFunction(graph, node, spec,
                       [operations](const op::Operation& operation,
                                    absl::Span<const op::TensorType> inputs) {
                         return HasOperation(operations, operation, inputs);
                       });
  RETURN_IF_ERROR(CheckOperations(device, operations,
                                  absl::StrCat("layer ", node.layer->name, " (",
                                               node.layer->class_name(), ")"),
                                  *function.function));
  return function;
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_LOWER_NODE_H_
