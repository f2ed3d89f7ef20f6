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

op::Tensor Zero(const op::Tensor& x) { return op::ConstantLike(x, 0); }

// Clips x to [low, high]; the derivative outside and at both ends is 0.
op::Tensor OpenClip(const op::Tensor& x, double low, double high) {
  const op::Tensor least = op::ConstantLike(x, low);
  const op::Tensor most = op::ConstantLike(x, high);
  const op::Tensor below_most = op::Select(op::GreaterEqual(x, most), most, x);
  return op::Select(op::LessEqual(x, least), least, below_most);
}

// exp x − 1 for negative x, without overflow; 0 for others.
op::Tensor Expm1Below(const op::Tensor& x) {
  return op::Expm1(op::Minimum(x, 0));
}

op::Tensor HardSigmoid(const op::Tensor& x) {
  return OpenClip(x + 3, 0, 6) / 6;
}

op::Tensor SparsePlus(const op::Tensor& x) {
  const op::Tensor y = x + 1;
  const op::Tensor parabola = y * y / 4;
  const op::Tensor above = op::Select(op::GreaterEqual(x, 1), x, parabola);
  const op::Tensor zero = Zero(x);
  return op::Select(op::LessEqual(x, -1), zero, above);
}

// A sum of two terms, whose derivative at 0 is 2, as in Keras.
op::Tensor Celu(const op::Tensor& x) {
  const op::Tensor above = op::Maximum(x, 0);
  return above + Expm1Below(x);
}

op::Tensor Selu(const op::Tensor& x) {
  const op::Tensor below = Expm1Below(x) * kSeluAlpha;
  return op::Select(op::GreaterEqual(x, 0), x, below) * kSeluScale;
}

// `shrunk` where |x| is above 0.5, else 0.
op::Tensor Shrink(const op::Tensor& x, const op::Tensor& shrunk) {
  const op::Tensor zero = Zero(x);
  return op::Select(op::LessEqual(op::Abs(x), 0.5), zero, shrunk);
}

op::Tensor Gelu(const op::Tensor& x) {
  const op::Tensor share = op::Erfc(x * -std::sqrt(0.5));
  return x * 0.5 * share;
}

}  // namespace

op::Tensor LeakyRelu(const op::Tensor& x, double slope) {
  const op::Tensor below = x * slope;
  return op::Select(op::Greater(x, 0), x, below);
}

op::Tensor Elu(const op::Tensor& x, double alpha) {
  const op::Tensor below = Expm1Below(x) * alpha;
  return op::Select(op::Greater(x, 0), x, below);
}

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
      return LeakyRelu(x, 0.2);
    case kElu:
      return Elu(x, 1);
    case kCelu:
      return Celu(x);
    case kSelu:
      return Selu(x);
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
      return Shrink(x, x);
    case kSoftShrink:
      return Shrink(x, x - op::Sign(x) * 0.5);
    case kSoftplus:
      return op::Softplus(x);
    case kSoftsign:
      return x / (op::Abs(x) + 1);
    case kSilu:
      return x * op::Sigmoid(x);
    case kHardSilu:
      return x * HardSigmoid(x);
    case kGelu:
      return Gelu(x);
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
