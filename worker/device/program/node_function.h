// A node of a graph as a function of operations: forward and, in training,
// backward, rewritten for a device.
//
// Fusion happens here, in this order: neighbouring layers that are computed
// together (fused_clamp.h, pooling_behind.h) become part of one function. Then
// the rewrites of common/operations/rewrites replace sequences of calls by a
// fused operation, if the device has it. The rest of the program treats the
// node as a list of calls.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_NODE_FUNCTION_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_NODE_FUNCTION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "common/model/graph.h"
#include "common/operations/function.h"
#include "common/operations/rewrites/replace_calls.h"

namespace paceline {

struct NodeFunctionSpec {
  int64_t batch_size = 1;
  bool is_training = true;
  // The job's seed.
  uint64_t seed = 0;
  // In training: which gradients backward gets. That with respect to the
  // output; and that with respect to the input of the final activation, if a
  // loss reads it (LossInput::before_activation).
  bool has_output_gradient = true;
  bool has_gradient_before_activation = false;
  // In training: whether the gradients with respect to the inputs are needed.
  bool wants_input_gradients = true;
  // Whether the output, and the gradient with respect to it, are stored in the
  // compute type.
  bool stores_compute_type = false;
};

// A node's function. Numbers are tensors of `function`; -1: there is none.
// Calls are fused as far as the device has the fused operations.
struct NodeFunction {
  std::unique_ptr<const op::Function> function;
  // Parameters. In the node's order.
  std::vector<int> inputs;
  std::vector<int> variables;
  // Batch::regularization_scale, of shape (), if the node has statistics.
  int regularization_scale = -1;
  // The gradients with respect to the output, and to the input of the final
  // activation, as the spec says.
  int output_gradient = -1;
  int gradient_before_activation = -1;
  // Results.
  int output = -1;
  // The input of the final activation, if losses may read it.
  int before_activation = -1;
  // NodeFunctionSpec::stores_compute_type.
  bool stores_compute_type = false;
  // In training: the gradient with respect to each input, if wanted, and to
  // each trained variable. For a statistic it is the statistic's delta
  // (StatisticDelta).
  std::vector<int> input_gradients;
  std::vector<int> variable_gradients;
};

// Creates the function of a node, in float32, for a device that `has`
// operations. Includes the max pooling after a layer with a rectifier
// (pooling_behind.h), and the rectifier after a batch normalization
// (fused_clamp.h).
NodeFunction MakeNodeFunction(const Graph& graph, const Node& node,
                              const NodeFunctionSpec& spec,
                              op::HasOperation has);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_NODE_FUNCTION_H_
