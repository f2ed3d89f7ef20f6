// The formulas of element functions (common/operations/elementwise.h). NaN
// gives NaN.
#ifndef PACELINE_WORKER_DEVICE_ELEMENT_FORMULAS_H_
#define PACELINE_WORKER_DEVICE_ELEMENT_FORMULAS_H_

#include <cmath>

#include "common/base/host_device.h"
#include "common/operations/elementwise.h"
#include "worker/device/sigmoid.h"

namespace paceline {

// Computes any function except kConstant. Bools are 0 and 1. Always inlined: if
// the function is a constant, a loop of it is vectorised.
template <typename T>
[[gnu::always_inline]] PACELINE_HOST_DEVICE inline T ComputeElement(
    op::ElementFunction function, T a, T b, T c) {
  using enum op::ElementFunction;
  switch (function) {
    case kConstant:
      break;
    case kAbs:
      return std::abs(a);
    case kSign:
      return a > 0 ? T{1} : a < 0 ? T{-1} : a;
    case kFloor:
      return std::floor(a);
    case kExp:
      return std::exp(a);
    case kExpm1:
      return std::expm1(a);
    case kLog:
      return std::log(a);
    case kLog1p:
      return std::log1p(a);
    case kSqrt:
      return std::sqrt(a);
    case kTanh:
      return std::tanh(a);
    case kSigmoid:
      return SigmoidOf(a);
    case kSoftplus:
      return SoftplusOf(a);
    case kErfc:
      return std::erfc(a);
    case kRelu:
      return a < 0 ? T{0} : a;
    case kAdd:
      return a + b;
    case kSubtract:
      return a - b;
    case kMultiply:
      return a * b;
    case kDivide:
      return a / b;
    case kPower:
      return static_cast<T>(std::pow(a, b));
    case kMaximum:
      // a != a holds for NaN, which the comparison alone would lose.
      return a != a || a > b ? a : b;
    case kMinimum:
      return a != a || a < b ? a : b;
    case kLess:
      return a < b ? T{1} : T{0};
    case kLessEqual:
      return a <= b ? T{1} : T{0};
    case kEqual:
      return a == b ? T{1} : T{0};
    case kSelect:
      return a != 0 ? b : c;
  }
  return T{0};
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_ELEMENT_FORMULAS_H_
