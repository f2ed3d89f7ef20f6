// Which tensors of the model the losses read, and where their gradients enter
// the nodes.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_LOSS_INPUTS_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_LOSS_INPUTS_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "common/model/graph.h"
#include "common/model/loss_input.h"
#include "common/model/output_spec.h"

namespace paceline {

// How losses depend on a node.
struct LossReads {
  // A loss reads the input of the node's final activation.
  bool reads_before_activation = false;
  // A loss or an activity penalty depends on the node's output, directly or
  // through other nodes; or the node is such a penalty.
  bool depends_on_output = false;
  // Its output is stored in float32 whatever the precision: a loss reads this
  // node or a node before it, and this node passes that value on as the model's
  // output; or a metric reads it, or it is the mask of an output, or an
  // activity penalty.
  bool is_in_float32 = false;
};

class LossInputs {
 public:
  LossInputs(const Graph& graph, absl::Span<const OutputSpec> outputs,
             bool is_training);

  // The input of the loss of an output, by OutputSpec; without a loss, the
  // output.
  const LossInput& input(size_t spec) const { return inputs_[spec]; }
  const LossReads& of_node(int node) const { return reads_[node]; }

 private:
  // By OutputSpec.
  std::vector<LossInput> inputs_;
  // By node.
  std::vector<LossReads> reads_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_LOSS_INPUTS_H_
