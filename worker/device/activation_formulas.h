// The formulas of Keras' elementwise activations and their derivatives, for
// devices whose library lacks them.
//
// NaN gives NaN, so that what diverged reaches the loss; hard_shrink and
// soft_shrink of Keras make 0 of it.
#ifndef PACELINE_WORKER_DEVICE_ACTIVATION_FORMULAS_H_
#define PACELINE_WORKER_DEVICE_ACTIVATION_FORMULAS_H_

#include <algorithm>
#include <cmath>
#include <numbers>

#include "common/base/host_device.h"
#include "common/model/activation.h"
#include "glog/logging.h"

namespace paceline {

// Klambauer et al.: Self-Normalizing Neural Networks.
inline constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
inline constexpr double kSeluScale = 1.0507009873554804934193349852946;

// Ends the program: a row-wise function has no formula of one element.
template <typename T>
PACELINE_HOST_DEVICE T NotElementwise(ActivationFunction function) {
#ifdef __CUDA_ARCH__
  __trap();
#else
  LOG(FATAL) << "activation function " << static_cast<int>(function)
             << " is not elementwise";
#endif
  return T{0};
}

template <typename T>
[[gnu::always_inline]] PACELINE_HOST_DEVICE inline T SigmoidOf(T x) {
  // exp of nothing positive: no overflow.
  const T e = std::exp(-std::abs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

template <typename T>
[[gnu::always_inline]] PACELINE_HOST_DEVICE inline T SoftplusOf(T x) {
  return std::max(x, T{0}) + std::log1p(std::exp(-std::abs(x)));
}

// f(x). `function` must not be row-wise.
template <typename T>
PACELINE_HOST_DEVICE T Activate(ActivationFunction function, T x) {
  using enum ActivationFunction;
  switch (function) {
    case kLinear:
      return x;
    case kRelu:
      return std::max(x, T{0});
    case kRelu6:
      return std::clamp(x, T{0}, T{6});
    case kLeakyRelu:
      return x > 0 ? x : T(0.2) * x;
    case kElu:
    case kCelu:
      return x > 0 ? x : std::expm1(x);
    case kSelu:
      return T(kSeluScale) * (x > 0 ? x : T(kSeluAlpha) * std::expm1(x));
    case kSigmoid:
      return SigmoidOf(x);
    case kHardSigmoid:
      return std::clamp(x + 3, T{0}, T{6}) / 6;
    case kLogSigmoid:
      return -SoftplusOf(-x);
    case kTanh:
      return std::tanh(x);
    case kHardTanh:
      return std::clamp(x, T{-1}, T{1});
    case kTanhShrink:
      return x - std::tanh(x);
    case kHardShrink:
      return std::abs(x) <= T(0.5) ? T{0} : x;
    case kSoftShrink:
      return std::abs(x) <= T(0.5) ? T{0} : x - std::copysign(T(0.5), x);
    case kSoftplus:
      return SoftplusOf(x);
    case kSoftsign:
      return x / (1 + std::abs(x));
    case kSilu:
      return x * SigmoidOf(x);
    case kHardSilu:
      return x * std::clamp(x + 3, T{0}, T{6}) / 6;
    case kGelu:
      return x / 2 * std::erfc(-x / std::numbers::sqrt2_v<T>);
    case kMish:
      return x * std::tanh(SoftplusOf(x));
    case kExponential:
      return std::exp(x);
    case kSquareplus:
      return (x + std::sqrt(x * x + 4)) / 2;
    case kSparsePlus:
      return x <= -1 ? T{0} : x >= 1 ? x : (x + 1) * (x + 1) / 4;
    case kSparseSigmoid:
      return std::clamp((x + 1) / 2, T{0}, T{1});
    case kSoftmax:
    case kLogSoftmax:
      break;
  }
  return NotElementwise<T>(function);
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_ACTIVATION_FORMULAS_H_
