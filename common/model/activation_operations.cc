#include "common/model/activation_operations.h"

#include <cmath>

#include "common/operations/binary_map.h"
#include "common/operations/compare.h"
#include "common/operations/constant.h"
#include "common/operations/map.h"
#include "common/operations/select.h"
#include "common/operations/softmax.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Klambauer et al.: Self-Normalizing Neural Networks.
constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

op::Tensor Zero(const op::Tensor& x) { return op::ConstantLike(x, 0); }

// x below `low` or above `high` becomes that, where the derivative is 0, also
// at the ends.
op::Tensor OpenClip(const op::Tensor& x, double low, double high) {
  return op::Select(
      op::LessEqual(x, low), op::ConstantLike(x, low),
      op::Select(op::GreaterEqual(x, high), op::ConstantLike(x, high), x));
}

// exp x − 1 for x below 0, where it does not overflow, else 0.
op::Tensor Expm1Below(const op::Tensor& x) {
  return op::Expm1(op::Minimum(x, 0));
}

op::Tensor HardSigmoid(const op::Tensor& x) {
  return OpenClip(x + 3, 0, 6) / 6;
}

op::Tensor SparsePlus(const op::Tensor& x) {
  const op::Tensor y = x + 1;
  return op::Select(op::LessEqual(x, -1), Zero(x),
                    op::Select(op::GreaterEqual(x, 1), x, y * y / 4));
}

}  // namespace

op::Tensor Activate(ActivationFunction function, const op::Tensor& x) {
  using enum ActivationFunction;
  switch (function) {
    case kLinear:
      return x;
    case kRelu:
      return op::Relu(x);
    case kRelu6:
      return OpenClip(x, 0, 6);
    case kLeakyRelu:
      return op::Select(op::Greater(x, 0), x, x * 0.2);
    case kElu:
      return op::Select(op::Greater(x, 0), x, Expm1Below(x));
    case kCelu:
      // A sum, whose derivative at 0 is 2.
      return op::Maximum(x, 0) + Expm1Below(x);
    case kSelu:
      return op::Select(op::GreaterEqual(x, 0), x, Expm1Below(x) * kSeluAlpha) *
             kSeluScale;
    case kSigmoid:
      return op::Sigmoid(x);
    case kHardSigmoid:
      return HardSigmoid(x);
    case kLogSigmoid:
      return -op::Softplus(-x);
    case kTanh:
      return op::Tanh(x);
    case kHardTanh:
      return op::Clip(x, -1, 1);
    case kTanhShrink:
      return x - op::Tanh(x);
    case kHardShrink:
      return op::Select(op::LessEqual(op::Abs(x), 0.5), Zero(x), x);
    case kSoftShrink:
      return op::Select(op::LessEqual(op::Abs(x), 0.5), Zero(x),
                        x - op::Sign(x) * 0.5);
    case kSoftplus:
      return op::Softplus(x);
    case kSoftsign:
      return x / (op::Abs(x) + 1);
    case kSilu:
      return x * op::Sigmoid(x);
    case kHardSilu:
      return x * HardSigmoid(x);
    case kGelu:
      return x * 0.5 * op::Erfc(x * -std::sqrt(0.5));
    case kMish:
      return x * op::Tanh(op::Softplus(x));
    case kExponential:
      return op::Exp(x);
    case kSquareplus:
      return (x + op::Sqrt(x * x + 4)) / 2;
    case kSparsePlus:
      return SparsePlus(x);
    case kSparseSigmoid:
      return OpenClip((x + 1) / 2, 0, 1);
    case kSoftmax:
      return op::Softmax(x);
    case kLogSoftmax:
      return op::LogSoftmax(x);
  }
  LOG(FATAL) << "activation function " << static_cast<int>(function);
}

}  // namespace paceline
