#include "common/operations/binary_map.h"

#include "common/operations/broadcast.h"
#include "common/operations/compare.h"
#include "common/operations/map.h"
#include "common/operations/select.h"
#include "glog/logging.h"

namespace paceline::op {
namespace {

// dy where `condition` is true, else 0.
Tensor Where(const Tensor& condition, const Tensor& dy) {
  return Select(condition, dy, ConstantLike(dy, 0));
}

// dy where `condition` is false, else 0.
Tensor WhereNot(const Tensor& condition, const Tensor& dy) {
  return Select(condition, ConstantLike(dy, 0), dy);
}

// The derivative of y = a^b with respect to b: y · log a. As in TensorFlow, log
// a counts as 0 where a is not positive.
Tensor LogarithmicDerivative(const Tensor& a, const Tensor& y) {
  const Tensor is_positive = Greater(a, 0);
  const Tensor one = ConstantLike(a, 1);
  const Tensor logarithm = Log(Select(is_positive, a, one));
  return y * logarithm;
}

// `dy` times the derivative of y = function(a, b) with respect to a; of y's
// shape.
Tensor ByFirst(BinaryFunction function, const Tensor& a, const Tensor& b,
               const Tensor& dy) {
  switch (function) {
    case BinaryFunction::kAdd:
    case BinaryFunction::kSubtract:
      return dy;
    case BinaryFunction::kMultiply:
      return dy * b;
    case BinaryFunction::kDivide:
      return dy / b;
    case BinaryFunction::kPower:
      return dy * (b * Power(a, b - 1));
    case BinaryFunction::kMaximum:
      return Where(GreaterEqual(a, b), dy);
    case BinaryFunction::kMinimum:
      return Where(LessEqual(a, b), dy);
  }
  LOG(FATAL) << static_cast<int>(function);
}

// The same with respect to b.
Tensor BySecond(BinaryFunction function, const Tensor& a, const Tensor& b,
                const Tensor& y, const Tensor& dy) {
  switch (function) {
    case BinaryFunction::kAdd:
      return dy;
    case BinaryFunction::kSubtract:
      return -dy;
    case BinaryFunction::kMultiply:
      return dy * a;
    case BinaryFunction::kDivide:
      return -(dy * (y / b));
    case BinaryFunction::kPower:
      return dy * LogarithmicDerivative(a, y);
    case BinaryFunction::kMaximum:
      return WhereNot(GreaterEqual(a, b), dy);
    case BinaryFunction::kMinimum:
      return WhereNot(LessEqual(a, b), dy);
  }
  LOG(FATAL) << static_cast<int>(function);
}

}  // namespace

absl::string_view BinaryFunctionName(BinaryFunction function) {
  switch (function) {
    case BinaryFunction::kAdd:
      return "Add";
    case BinaryFunction::kSubtract:
      return "Subtract";
    case BinaryFunction::kMultiply:
      return "Multiply";
    case BinaryFunction::kDivide:
      return "Divide";
    case BinaryFunction::kPower:
      return "Power";
    case BinaryFunction::kMaximum:
      return "Maximum";
    case BinaryFunction::kMinimum:
      return "Minimum";
  }
  LOG(FATAL) << static_cast<int>(function);
}

std::vector<TensorType> BinaryMapOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  const DataType type = inputs[0].type;
  CHECK(type == inputs[1].type && (IsReal(type) || type == DataType::kInt32))
      << BinaryFunctionName(function_) << " of " << ToString(inputs[0])
      << " and " << ToString(inputs[1]);
  CHECK(IsReal(type) || function_ != BinaryFunction::kPower);
  return {{type, BroadcastShape(inputs[0].shape, inputs[1].shape)}};
}

Gradients BinaryMapOperation::AddGradient(const CallGradient& call) const {
  const Tensor& a = call.inputs[0];
  const Tensor& b = call.inputs[1];
  const Tensor& dy = *call.output_gradients[0];
  Gradients gradients(2);
  if (call.wanted[0]) {
    gradients[0] = SumTo(ByFirst(function_, a, b, dy), a.shape());
  }
  if (call.wanted[1]) {
    gradients[1] =
        SumTo(BySecond(function_, a, b, call.outputs[0], dy), b.shape());
  }
  return gradients;
}

Tensor BinaryMap(BinaryFunction function, const Tensor& a, const Tensor& b) {
  return AddCall(BinaryMapOperation(function), {a, b});
}

}  // namespace paceline::op
