// tanh for vectorised loops; the C library's tanh is a function call per
// element.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_TANH_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_TANH_H_

#include "worker/device/cpu/kernels/exp.h"

namespace paceline::cpu {

// tanh x within two units in the last place; NaN of NaN.
//
// 1 − 2 / (e^2|x| + 1) with the sign of x, which loses digits near 0; there,
// the polynomial of tanhf in the Cephes library (Moshier, 1989).
[[gnu::always_inline]] inline float VectorTanh(float x) {
  constexpr float kSmall = 0.625f;
  const float size = x < 0 ? -x : x;
  const float square = x * x;
  float p = -5.70498872745e-3f;
  p = p * square + 2.06390887954e-2f;
  p = p * square - 5.37397155531e-2f;
  p = p * square + 1.33314422036e-1f;
  p = p * square - 3.33332819422e-1f;
  const float near_0 = p * square * x + x;
  const float large = 1 - 2 / (VectorExp(2 * size) + 1);
  const float signed_large = x < 0 ? -large : large;
  return size < kSmall ? near_0 : signed_large;
}

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_TANH_H_
