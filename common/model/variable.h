// A variable of a model: what every process derives from the job alone.
#ifndef PACELINE_COMMON_MODEL_VARIABLE_H_
#define PACELINE_COMMON_MODEL_VARIABLE_H_

#include <memory>
#include <string>

#include "common/model/initializer.h"
#include "common/model/regularizer.h"
#include "common/tensor/shape.h"

namespace paceline {

struct VariableSpec {
  // "<layer>/<variable>", such as "conv2d/kernel"; unique in the model.
  std::string name;
  Shape shape;
  std::shared_ptr<const Initializer> initializer;
  Regularizer regularizer;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_VARIABLE_H_
