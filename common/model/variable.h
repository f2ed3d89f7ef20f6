// The specification of a model's variable, which every process derives from the
// job.
#ifndef PACELINE_COMMON_MODEL_VARIABLE_H_
#define PACELINE_COMMON_MODEL_VARIABLE_H_

#include <memory>
#include <string>

#include "common/model/constraint.h"
#include "common/model/initializer.h"
#include "common/model/regularizer.h"
#include "common/tensor/shape.h"

namespace paceline {

// How a step updates a variable.
enum class VariableUpdate {
  // The optimizer applies its gradient.
  kGradient,
  // A statistic of the data, such as a moving mean, that the optimizer ignores.
  // Instead of a gradient, a step computes the delta by which this replica's
  // batch moves it, times the batch's fraction of the step. The replicas'
  // deltas are summed and added to the variable. Workers that do not step
  // together update it otherwise (moving_statistics.h). It has no slots,
  // clipping, regularizer or constraint.
  kDelta,
  // Not at all: its layer is frozen. It has no gradient.
  kNone,
};

struct VariableSpec {
  // "<layer>/<variable>", such as "conv2d/kernel"; unique in the model.
  std::string name;
  Shape shape;
  std::shared_ptr<const Initializer> initializer;
  Regularizer regularizer;
  // Applied at the end of each update.
  Constraint constraint = {};
  VariableUpdate update = VariableUpdate::kGradient;
  // For a statistic: the factor by which a step decays it, in [0, 1].
  double momentum = 0;

  bool is_trained() const { return update == VariableUpdate::kGradient; }
};

// Excludes a variable from training. As in Keras, it has neither penalty nor
// constraint then.
inline void Freeze(VariableSpec& variable) {
  variable.update = VariableUpdate::kNone;
  variable.regularizer = Regularizer();
  variable.constraint = Constraint();
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_VARIABLE_H_
