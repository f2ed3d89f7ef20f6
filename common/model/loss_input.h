// What a loss reads of a model: its output, or the logits behind it.
//
// As in Keras, a cross-entropy whose input comes straight from softmax or
// sigmoid is traced back to that activation's input, whatever `from_logits`
// says: no clipping, and a gradient that does not vanish. Also as in Keras, it
// is not asked which of the two it is, and layers that hand on what they get
// may stand between: a linear Activation, and a Dropout that drops nothing.
#ifndef PACELINE_COMMON_MODEL_LOSS_INPUT_H_
#define PACELINE_COMMON_MODEL_LOSS_INPUT_H_

#include "common/model/activation.h"
#include "common/model/graph.h"
#include "common/model/loss.h"

namespace paceline {

struct LossInput {
  // The node whose output the loss reads, and where its gradient enters. Those
  // behind it hand on what they get, and have no backward.
  int node = 0;
  // The loss reads what goes into the final activation of the node
  // (Layer::final_activation), and its gradient enters there: it does not go
  // back through that activation.
  bool before_activation = false;
  // The loss takes what it reads for logits.
  bool from_logits = false;
};

// Whether a loss may read what goes into this activation at the end of a layer.
bool MayGiveLogits(ActivationFunction activation);

// Of a loss of the model's output that node `output` gives; also for losses
// that are used as metrics. `is_training`: whether Dropout drops.
LossInput ResolveLossInput(const Graph& graph, int output, const Loss& loss,
                           bool is_training);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LOSS_INPUT_H_
