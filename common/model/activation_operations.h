// Activation functions as operations.
#ifndef PACELINE_COMMON_MODEL_ACTIVATION_OPERATIONS_H_
#define PACELINE_COMMON_MODEL_ACTIVATION_OPERATIONS_H_

#include "common/model/activation.h"
#include "common/operations/function.h"

namespace paceline {

// Keras' formulas; at a bend the derivative is what Keras computes with
// TensorFlow. NaN stays NaN.
op::Tensor Activate(ActivationFunction function, const op::Tensor& x);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_ACTIVATION_OPERATIONS_H_
