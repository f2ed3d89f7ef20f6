// A variable of a model: what every process derives from the job alone.
#ifndef PACELINE_COMMON_MODEL_VARIABLE_H_
#define PACELINE_COMMON_MODEL_VARIABLE_H_

#include <memory>
#include <string>

#include "common/model/initializer.h"
#include "common/tensor/shape.h"

namespace paceline {

// Keras' L1, L2 and L1L2: l1·Σ|w| + l2·Σw², added to the loss.
struct Regularizer {
  double l1 = 0;
  double l2 = 0;
};

struct VariableSpec {
  // "<layer>/<variable>", such as "conv2d/kernel"; unique in the model.
  std::string name;
  Shape shape;
  std::shared_ptr<const Initializer> initializer;
  Regularizer regularizer;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_VARIABLE_H_
