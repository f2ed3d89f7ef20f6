// A variable of a model: what every process derives from the job alone.
#ifndef PACELINE_COMMON_MODEL_VARIABLE_H_
#define PACELINE_COMMON_MODEL_VARIABLE_H_

#include <memory>
#include <string>

#include "common/model/initializer.h"
#include "common/model/regularizer.h"
#include "common/tensor/shape.h"

namespace paceline {

// What a step does to a variable.
enum class VariableUpdate {
  // The optimizer applies its gradient.
  kGradient,
  // A statistic of the data, such as a moving mean, that the optimizer leaves
  // alone. Instead of its gradient a step gives how far this replica's batch
  // moves it, times the batch's share of the step; the replicas' deltas are
  // summed and added to it. Workers that do not step together go another way
  // (moving_statistics.h). No slots, clipping or regularizer.
  kDelta,
  // Nothing: its layer is frozen. It has no gradient.
  kNone,
};

struct VariableSpec {
  // "<layer>/<variable>", such as "conv2d/kernel"; unique in the model.
  std::string name;
  Shape shape;
  std::shared_ptr<const Initializer> initializer;
  Regularizer regularizer;
  VariableUpdate update = VariableUpdate::kGradient;
  // Of a statistic: what a step leaves of it, in [0, 1].
  double momentum = 0;

  bool is_trained() const { return update == VariableUpdate::kGradient; }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_VARIABLE_H_
