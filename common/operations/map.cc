#include "common/operations/map.h"

#include <numbers>
#include <optional>

#include "common/operations/binary_map.h"
#include "common/operations/cast.h"
#include "common/operations/compare.h"
#include "glog/logging.h"

namespace paceline::op {
namespace {

// `dy` times the derivative of y = function(x); nullopt: it is 0.
std::optional<Tensor> Differentiated(MapFunction function, const Tensor& x,
                                     const Tensor& y, const Tensor& dy) {
  switch (function) {
    case MapFunction::kAbs:
      return dy * Sign(x);
    case MapFunction::kSign:
    case MapFunction::kFloor:
      return std::nullopt;
    case MapFunction::kExp:
      return dy * y;
    case MapFunction::kExpm1:
      return dy * (y + 1);
    case MapFunction::kLog:
      return dy / x;
    case MapFunction::kLog1p:
      return dy / (x + 1);
    case MapFunction::kSqrt:
      return dy / (y * 2);
    case MapFunction::kTanh:
      return dy * (1 - y * y);
    case MapFunction::kSigmoid:
      return dy * (y * (1 - y));
    case MapFunction::kSoftplus:
      return dy * Sigmoid(x);
    case MapFunction::kErfc:
      return dy * (Exp(-(x * x)) * (-2 * std::numbers::inv_sqrtpi));
    case MapFunction::kRelu:
      // A product instead of a Select, so that a NaN in dy stays NaN.
      return dy * Cast(Greater(y, 0), dy.data_type());
  }
  LOG(FATAL) << static_cast<int>(function);
}

}  // namespace

absl::string_view MapFunctionName(MapFunction function) {
  switch (function) {
    case MapFunction::kAbs:
      return "Abs";
    case MapFunction::kSign:
      return "Sign";
    case MapFunction::kFloor:
      return "Floor";
    case MapFunction::kExp:
      return "Exp";
    case MapFunction::kExpm1:
      return "Expm1";
    case MapFunction::kLog:
      return "Log";
    case MapFunction::kLog1p:
      return "Log1p";
    case MapFunction::kSqrt:
      return "Sqrt";
    case MapFunction::kTanh:
      return "Tanh";
    case MapFunction::kSigmoid:
      return "Sigmoid";
    case MapFunction::kSoftplus:
      return "Softplus";
    case MapFunction::kErfc:
      return "Erfc";
    case MapFunction::kRelu:
      return "Relu";
  }
  LOG(FATAL) << static_cast<int>(function);
}

std::vector<TensorType> MapOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  CHECK(IsReal(inputs[0].type))
      << MapFunctionName(function_) << " of " << ToString(inputs[0]);
  return {inputs[0]};
}

Gradients MapOperation::AddGradient(const CallGradient& call) const {
  return {Differentiated(function_, call.inputs[0], call.outputs[0],
                         *call.output_gradients[0])};
}

Tensor Map(MapFunction function, const Tensor& x) {
  return AddCall(MapOperation(function), {x});
}

}  // namespace paceline::op
