// A node of a graph as a function of operations: its forward and, in training,
// its backward, rewritten for a device.
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
  // The job's.
  uint64_t seed = 0;
  // In training, where gradients come in: by the output, and by what goes into
  // the final activation, if a loss reads that (LossInput::before_activation).
  bool has_output_gradient = true;
  bool has_gradient_before_activation = false;
  // In training, whether anybody wants the gradients by the inputs.
  bool wants_input_gradients = true;
  // The output, and the gradient by it, are stored in the compute type.
  bool stores_compute_type = false;
};

// Tensors are ids of `function`, whose calls are fused as far as the device has
// what comes of it. -1: there is none.
struct NodeFunction {
  std::unique_ptr<const op::Function> function;
  // Parameters. In the order of the node's.
  std::vector<int> inputs;
  std::vector<int> variables;
  // Batch::regularization_scale, of shape (), if the node has statistics.
  int regularization_scale = -1;
  // The gradients by the output, and by what goes into the final activation, as
  // the spec has them.
  int output_gradient = -1;
  int gradient_before_activation = -1;
  // Results.
  int output = -1;
  // What goes into the final activation, if losses may read it.
  int before_activation = -1;
  // As the spec has it.
  bool stores_compute_type = false;
  // In training. Of each input, if they are wanted, and of each variable that
  // is trained; in the place of the gradient of a statistic stands its delta
  // (StatisticDelta).
  std::vector<int> input_gradients;
  std::vector<int> variable_gradients;
};

// In float32, of a node of `graph`, for a device that `has` operations. A layer
// with a rectifier does the work of the max pooling behind it
// (pooling_behind.h), and a batch normalization that of the rectifier behind it
// (fused_clamp.h).
NodeFunction MakeNodeFunction(const Graph& graph, const Node& node,
                              const NodeFunctionSpec& spec,
                              op::HasOperation has);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_NODE_FUNCTION_H_
