// Activation functions as operations.
#ifndef PACELINE_COMMON_MODEL_ACTIVATION_OPERATIONS_H_
#define PACELINE_COMMON_MODEL_ACTIVATION_OPERATIONS_H_

#include "common/model/activation.h"
#include "common/operations/function.h"

namespace paceline {

// Keras' formulas. At a kink the derivative is the one that Keras computes with
// TensorFlow. NaN stays NaN.
op::Tensor Activate(ActivationFunction function, const op::Tensor& x);

// x for x > 0, else slope · x.
op::Tensor LeakyRelu(const op::Tensor& x, double slope);
// x for x > 0, else alpha · (exp x − 1).
op::Tensor Elu(const op::Tensor& x, double alpha);

// SELU is scale · Elu(x, alpha). Klambauer et al.: Self-Normalizing Neural
// Networks.
inline constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
inline constexpr double kSeluScale = 1.0507009873554804934193349852946;

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_ACTIVATION_OPERATIONS_H_
