// Where the losses of a program read its model, and where their gradients come
// into the nodes.
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
  // A loss reads what goes into the node's final activation.
  bool reads_before_activation = false;
  // A loss reads the node's output, itself or through other nodes.
  bool depends_on_output = false;
  // The node is what a loss reads, or one behind it that hands that on as an
  // output of the model.
  bool is_between_loss_and_output = false;
};

class LossInputs {
 public:
  LossInputs(const Graph& graph, absl::Span<const OutputSpec> outputs,
             bool is_training);

  // Of the loss of Graph::outputs[output].
  const LossInput& input(size_t output) const { return inputs_[output]; }
  const LossReads& of_node(int node) const { return reads_[node]; }

 private:
  // By output.
  std::vector<LossInput> inputs_;
  // By node.
  std::vector<LossReads> reads_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_LOSS_INPUTS_H_
