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

std::vector<TensorType> MaxPoolingOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  return {Pooled(window_, inputs[0])};
}

std::vector<TensorType> AveragePoolingOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  return {Pooled(window_, inputs[0])};
}

std::vector<TensorType> MaxPoolingGradientOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  const TensorType output = Pooled(window_, inputs[0]);
  CHECK(inputs[1] == output) << ToString(inputs[1]);
  CHECK(inputs[2] == output) << ToString(inputs[2]);
  return {inputs[0]};
}

std::vector<TensorType> AveragePoolingGradientOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  const TensorType input = {inputs[0].type, input_shape_};
  CHECK(inputs[0] == Pooled(window_, input)) << ToString(inputs[0]);
  return {input};
}

Gradients MaxPoolingOperation::AddGradient(const CallGradient& call) const {
  return {
      AddCall(MaxPoolingGradientOperation(window_, rectifies_),
              {call.inputs[0], call.outputs[0], *call.output_gradients[0]})};
}

Gradients AveragePoolingOperation::AddGradient(const CallGradient& call) const {
  return {
      AddCall(AveragePoolingGradientOperation(window_, call.inputs[0].shape()),
              {*call.output_gradients[0]})};
}

Gradients AveragePoolingGradientOperation::AddGradient(
    const CallGradient& call) const {
  return {AveragePooling(*call.output_gradients[0], window_)};
}

Tensor MaxPooling(const Tensor& x, const Window2D& window) {
  return AddCall(MaxPoolingOperation(window), {x});
}

Tensor AveragePooling(const Tensor& x, const Window2D& window) {
  return AddCall(AveragePoolingOperation(window), {x});
}

}  // namespace paceline::op
