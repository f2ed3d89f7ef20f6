// Regularizers of variables.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_REGULARIZATION_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_REGULARIZATION_H_

#include <cmath>
#include <cstddef>

#include "worker/device/reference/tensor.h"

namespace paceline::reference {

// l1 · Σ|w| + l2 · Σw².
template <typename T>
double Penalty(const Variable<T>& variable) {
  double penalty = 0;
  for (const T w : variable.value) {
    penalty += variable.regularizer.l1 * std::abs(double{w}) +
               variable.regularizer.l2 * double{w} * double{w};
  }
  return penalty;
}

// Adds `scale` times the derivative of the penalty to the gradient. That of |w|
// at 0 is 0.
template <typename T>
void AddPenaltyGradient(const Variable<T>& variable, double scale) {
  const T l1 = static_cast<T>(scale * variable.regularizer.l1);
  const T l2 = static_cast<T>(scale * variable.regularizer.l2);
  if (l1 == 0 && l2 == 0) return;
  for (size_t i = 0; i < variable.value.size(); ++i) {
    const T w = variable.value[i];
    const T sign = static_cast<T>((w > 0) - (w < 0));
    variable.gradient[i] += l1 * sign + 2 * l2 * w;
  }
}

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_REGULARIZATION_H_
