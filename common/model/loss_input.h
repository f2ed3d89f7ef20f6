// The tensor that a loss reads: the model's output, or the logits before the
// final activation.
//
// As in Keras, if the input of a cross-entropy comes directly from softmax or
// sigmoid, the loss reads that activation's input, no matter what `from_logits`
// says. Then nothing is clipped, and the gradient does not vanish. Also as in
// Keras, no check is made that the activation matches the loss, and identity
// layers may lie in between: a linear Activation, and Dropout or noise that
// changes nothing.
#ifndef PACELINE_COMMON_MODEL_LOSS_INPUT_H_
#define PACELINE_COMMON_MODEL_LOSS_INPUT_H_

#include "absl/status/status.h"
#include "common/model/activation.h"
#include "common/model/graph.h"
#include "common/model/loss.h"

namespace paceline {

struct LossInput {
  // The node whose output the loss reads, and where its gradient enters. The
  // nodes after it only pass it on, and have no backward.
  int node = 0;
  // The loss reads the input of the node's final activation
  // (Layer::final_activation), and its gradient enters there: it does not pass
  // through that activation.
  bool before_activation = false;
  // The loss treats what it reads as logits.
  bool from_logits = false;
};

// Whether a loss may read the input of this final activation.
bool MayGiveLogits(ActivationFunction activation);

// The input of a loss of the model's output `output` (a node), also if the loss
// is used as a metric. `is_training`: whether Dropout drops.
LossInput ResolveLossInput(const Graph& graph, int output, const Loss& loss,
                           bool is_training);

// Unimplemented if the loss does not accept the logits that it would read.
absl::Status CheckLossInput(const Graph& graph, int output, const Loss& loss);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSS_INPUT_H_
