#include "common/operations/pooling.h"

#include "glog/logging.h"

namespace paceline::op {
namespace {

TensorType Pooled(const Window2D& window, const TensorType& input) {
  CHECK(IsReal(input.type)) << ToString(input);
  return {input.type,
          WindowOutputShape(window, input.shape, input.shape.back())};
}

}  // namespace

std::vector<TensorType> PoolingOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  return {Pooled(window_, inputs[0])};
}

std::vector<TensorType> MaxPoolingGradientOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  CHECK(inputs[1] == Pooled(window_, inputs[0])) << ToString(inputs[1]);
  return {inputs[0]};
}

std::vector<TensorType> AveragePoolingGradientOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  const TensorType input = {inputs[0].type, input_shape_};
  CHECK(inputs[0] == Pooled(window_, input)) << ToString(inputs[0]);
  return {input};
}

Gradients PoolingOperation::AddGradient(const CallGradient& call) const {
  const Tensor& x = call.inputs[0];
  const Tensor& dy = *call.output_gradients[0];
  if (mode_ == PoolingMode::kMax) {
    return {AddCall(MaxPoolingGradientOperation(window_), {x, dy})};
  }
  return {AddCall(AveragePoolingGradientOperation(window_, x.shape()), {dy})};
}

Gradients AveragePoolingGradientOperation::AddGradient(
    const CallGradient& call) const {
  return {AveragePooling(*call.output_gradients[0], window_)};
}

Tensor MaxPooling(const Tensor& x, const Window2D& window) {
  return AddCall(PoolingOperation(PoolingMode::kMax, window), {x});
}

Tensor AveragePooling(const Tensor& x, const Window2D& window) {
  return AddCall(PoolingOperation(PoolingMode::kAverage, window), {x});
}

}  // namespace paceline::op
