// Activation functions as operations.
#ifndef PACELINE_COMMON_MODEL_ACTIVATION_OPERATIONS_H_
#define PACELINE_COMMON_MODEL_ACTIVATION_OPERATIONS_H_

#include "common/model/activation.h"
#include "common/operations/function.h"

namespace paceline {

// Keras' formulas. At a kink the derivative is the one that Keras computes with
// TensorFlow. NaN stays NaN.
op::Tensor Activate(ActivationFunction function, const op::Tensor& x);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_ACTIVATION_OPERATIONS_H_
