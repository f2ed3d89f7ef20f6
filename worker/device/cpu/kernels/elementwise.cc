#include "worker/device/cpu/kernels/elementwise.h"

#include "common/base/simd.h"
#include "glog/logging.h"
#include "worker/device/cpu/kernels/exp.h"
#include "worker/device/cpu/kernels/tanh.h"
#include "worker/device/element_formulas.h"

namespace paceline::cpu {
namespace {

// Computes the formula without calls of the C library's exp and tanh.
template <op::ElementFunction function>
[[gnu::always_inline]] inline float ComputeOne(float a, float b, float c) {
  if constexpr (function == op::ElementFunction::kExp) return VectorExp(a);
  if constexpr (function == op::ElementFunction::kSigmoid) {
    return 1 / (1 + VectorExp(-a));
  }
  if constexpr (function == op::ElementFunction::kTanh) return VectorTanh(a);
  return ComputeElement(function, a, b, c);
}

// Inlined into functions that are compiled once per instruction set. There the
// function is a constant, so the compiler sees the formula.
template <op::ElementFunction function>
[[gnu::always_inline]] inline void ComputeEach(int64_t count, const float* a,
                                               const float* b, const float* c,
                                               float* y) {
  constexpr int kOperands = op::OperandCount(function);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    y[i] = ComputeOne<function>(a[i], kOperands > 1 ? b[i] : 0.0f,
                                kOperands > 2 ? c[i] : 0.0f);
  }
}

}  // namespace

PACELINE_MULTIVERSION
void ComputeElements(op::ElementFunction function, int64_t count,
                     const float* a, const float* b, const float* c, float* y) {
  using enum op::ElementFunction;
  switch (function) {
    case kConstant:
      break;
    case kAbs:
      return ComputeEach<kAbs>(count, a, b, c, y);
    case kSign:
      return ComputeEach<kSign>(count, a, b, c, y);
    case kFloor:
      return ComputeEach<kFloor>(count, a, b, c, y);
    case kExp:
      return ComputeEach<kExp>(count, a, b, c, y);
    case kExpm1:
      return ComputeEach<kExpm1>(count, a, b, c, y);
    case kLog:
      return ComputeEach<kLog>(count, a, b, c, y);
    case kLog1p:
      return ComputeEach<kLog1p>(count, a, b, c, y);
    case kSqrt:
      return ComputeEach<kSqrt>(count, a, b, c, y);
    case kTanh:
      return ComputeEach<kTanh>(count, a, b, c, y);
    case kSigmoid:
      return ComputeEach<kSigmoid>(count, a, b, c, y);
    case kSoftplus:
      return ComputeEach<kSoftplus>(count, a, b, c, y);
    case kErfc:
      return ComputeEach<kErfc>(count, a, b, c, y);
    case kRelu:
      return ComputeEach<kRelu>(count, a, b, c, y);
    case kAdd:
      return ComputeEach<kAdd>(count, a, b, c, y);
    case kSubtract:
      return ComputeEach<kSubtract>(count, a, b, c, y);
    case kMultiply:
      return ComputeEach<kMultiply>(count, a, b, c, y);
    case kDivide:
      return ComputeEach<kDivide>(count, a, b, c, y);
    case kPower:
      return ComputeEach<kPower>(count, a, b, c, y);
    case kMaximum:
      return ComputeEach<kMaximum>(count, a, b, c, y);
    case kMinimum:
      return ComputeEach<kMinimum>(count, a, b, c, y);
    case kLess:
      return ComputeEach<kLess>(count, a, b, c, y);
    case kLessEqual:
      return ComputeEach<kLessEqual>(count, a, b, c, y);
    case kEqual:
      return ComputeEach<kEqual>(count, a, b, c, y);
    case kSelect:
      return ComputeEach<kSelect>(count, a, b, c, y);
  }
  LOG(FATAL) << "a constant is no function of arrays";
}

}  // namespace paceline::cpu
